"""The sentences of the simulated model, by language. Every one keeps to what the request holds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentences:
    """Sentences with their gaps. `told` is by slot: what answers a question about it, and what takes up a
    statement about it; `asked_back` is how the agent comes back to it after some days.
    """

    hello: str
    hello_name: str
    away_day: str
    away_days: str
    welcome: str
    know: dict[str, str]
    heard: dict[str, str]
    asked_back: dict[str, str]
    know_other: str
    know_all: str
    in_summary: str
    in_talk: str
    unknown: str
    not_in_reach: str
    found: str
    topic: str
    between: str
    thanks: str
    goodbye: str
    agreed: str
    noted: str
    forgotten: str
    not_forgotten: str
    medium: str
    how_are_you: str
    new_here: str


SENTENCES: dict[str, Sentences] = {
    "en": Sentences(
        hello="Hi!",
        hello_name="Hi {name}!",
        away_day="It has been a day.",
        away_days="It has been {days} days.",
        welcome="Good to hear from you again.",
        know={
            "name": "Your name is {value}.",
            "city": "You live in {value}.",
            "job": "About your work you told me: {value}.",
            "company": "You work at {value}.",
            "likes": "You told me that you like {value}.",
            "family": "About your family you told me: {value}.",
            "plans": "You told me about your plans: {value}.",
            "mood": "The last thing I know is that you felt {value}.",
            "birthday": "Your birthday is on {value}.",
            "budget": "You named a budget of {value}.",
            "plan": "You spoke of this plan: {value}.",
            "pain": "The problem that you named: {value}.",
        },
        heard={
            "name": "Nice to meet you, {value}!",
            "city": "So you live in {value}: noted.",
            "job": "About your work, {value}: I hope it goes well!",
            "company": "So you work at {value}: noted.",
            "likes": "So you like {value}: good to know.",
            "dislikes": "I will keep in mind: {value}.",
            "interest": "So {value} interests you.",
            "family": "Thank you for telling me about your {value}.",
            "mood": "You feel {value}: I am listening.",
            "plans": "“{value}”: that is a plan! Tell me how it goes.",
            "goals": "“{value}”: a good goal.",
            "budget": "A budget of {value}: noted.",
            "pain": "I see the problem: {value}.",
            "birthday": "Your birthday, {value}: noted.",
        },
        asked_back={
            "job": "How did it go with your work ({value})?",
            "new_job": "How is the {value} going?",
            "plans": "How did it go with “{value}”?",
            "pain": "Is this still a problem: {value}?",
            "family": "How is your {value}?",
            "city": "How are things in {value}?",
            "likes": "Still enjoying {value}?",
            "other": "Last time you told me: “{value}”. How did that go?",
        },
        know_other="I remember this ({key}): {value}.",
        know_all="This is what I remember of you: {value}.",
        in_summary="I remember this from earlier: {value}",
        in_talk="You told me: “{value}”.",
        unknown="I do not know: you have not told me that yet.",
        not_in_reach="About “{value}”: I cannot know that, I only know what you tell me.",
        found="I looked it up: {value}",
        topic="I read what you wrote about “{value}”. Tell me more.",
        between="” and “",
        thanks="You are welcome!",
        goodbye="Talk soon!",
        agreed="All right.",
        noted="I have written that down.",
        forgotten="I have forgotten it.",
        not_forgotten="I have nothing of that on record.",
        medium="Thanks, I got your {value}.",
        how_are_you="How are you?",
        new_here="What is your name?",
    ),
    "es": Sentences(
        hello="¡Hola!",
        hello_name="¡Hola, {name}!",
        away_day="Ha pasado un día.",
        away_days="Han pasado {days} días.",
        welcome="Me alegra leerte otra vez.",
        know={
            "name": "Te llamas {value}.",
            "city": "Vives en {value}.",
            "job": "De tu trabajo me contaste: {value}.",
            "company": "Trabajas en {value}.",
            "likes": "Me contaste que te gusta {value}.",
            "family": "De tu familia me contaste: {value}.",
            "plans": "Me hablaste de tus planes: {value}.",
            "mood": "Lo último que sé es que te sentías así: {value}.",
            "birthday": "Tu cumpleaños es el {value}.",
            "budget": "Me diste un presupuesto de {value}.",
            "plan": "Hablaste de este plan: {value}.",
            "pain": "El problema que me contaste: {value}.",
        },
        heard={
            "name": "¡Encantada de conocerte, {value}!",
            "city": "Así que vives en {value}: me lo apunto.",
            "job": "Sobre tu trabajo, {value}: ¡ojalá vaya muy bien!",
            "company": "Así que trabajas en {value}: me lo apunto.",
            "likes": "Así que te gusta {value}: bueno es saberlo.",
            "dislikes": "Lo tendré en cuenta: {value}.",
            "interest": "Así que te interesa {value}.",
            "family": "Gracias por hablarme de tu {value}.",
            "mood": "Te sientes así, {value}: te escucho.",
            "plans": "«{value}»: ¡buen plan! Ya me contarás.",
            "goals": "«{value}»: es una buena meta.",
            "budget": "Un presupuesto de {value}: anotado.",
            "pain": "Entiendo el problema: {value}.",
            "birthday": "Tu cumpleaños, {value}: anotado.",
        },
        asked_back={
            "job": "¿Qué tal con el trabajo ({value})?",
            "new_job": "¿Qué tal va el {value}?",
            "plans": "¿Qué tal fue lo de «{value}»?",
            "pain": "¿Sigue el problema: {value}?",
            "family": "¿Cómo está tu {value}?",
            "city": "¿Qué tal todo por {value}?",
            "likes": "¿Sigues disfrutando de {value}?",
            "other": "La última vez me contaste: «{value}». ¿Cómo fue?",
        },
        know_other="Recuerdo esto ({key}): {value}.",
        know_all="Esto es lo que recuerdo de ti: {value}.",
        in_summary="Recuerdo esto de antes: {value}",
        in_talk="Me contaste: «{value}».",
        unknown="No lo sé: todavía no me lo has contado.",
        not_in_reach="Sobre «{value}»: no puedo saberlo, solo sé lo que tú me cuentas.",
        found="Lo he buscado: {value}",
        topic="He leído lo que cuentas de «{value}». Cuéntame más.",
        between="» y «",
        thanks="¡De nada!",
        goodbye="¡Hasta pronto!",
        agreed="De acuerdo.",
        noted="Lo he apuntado.",
        forgotten="Lo he olvidado.",
        not_forgotten="No tengo nada de eso apuntado.",
        medium="Gracias, me ha llegado tu {value}.",
        how_are_you="¿Cómo estás?",
        new_here="¿Cómo te llamas?",
    ),
    "it": Sentences(
        hello="Ciao!",
        hello_name="Ciao {name}!",
        away_day="È passato un giorno.",
        away_days="Sono passati {days} giorni.",
        welcome="Che bello risentirti.",
        know={
            "name": "Ti chiami {value}.",
            "city": "Abiti a {value}.",
            "job": "Del tuo lavoro mi hai raccontato: {value}.",
            "company": "Lavori presso {value}.",
            "likes": "Mi hai raccontato che ti piace {value}.",
            "family": "Della tua famiglia mi hai raccontato: {value}.",
            "plans": "Mi hai parlato dei tuoi piani: {value}.",
            "mood": "L'ultima cosa che so è che ti sentivi così: {value}.",
            "birthday": "Il tuo compleanno è il {value}.",
            "budget": "Hai indicato un budget di {value}.",
            "plan": "Hai parlato di questo piano: {value}.",
            "pain": "Il problema che mi hai raccontato: {value}.",
        },
        heard={
            "name": "Piacere di conoscerti, {value}!",
            "city": "Quindi abiti a {value}: me lo segno.",
            "job": "Sul tuo lavoro, {value}: spero che vada bene!",
            "company": "Quindi lavori presso {value}: me lo segno.",
            "likes": "Quindi ti piace {value}: buono a sapersi.",
            "dislikes": "Ne terrò conto: {value}.",
            "interest": "Quindi ti interessa {value}.",
            "family": "Grazie di avermi parlato di {value}.",
            "mood": "Ti senti così, {value}: ti ascolto.",
            "plans": "«{value}»: bel piano! Poi raccontami.",
            "goals": "«{value}»: un bell'obiettivo.",
            "budget": "Un budget di {value}: segnato.",
            "pain": "Capisco il problema: {value}.",
            "birthday": "Il tuo compleanno, {value}: segnato.",
        },
        asked_back={
            "job": "Come è andata con il lavoro ({value})?",
            "new_job": "Come va il {value}?",
            "plans": "Come è andata con «{value}»?",
            "pain": "C'è ancora il problema: {value}?",
            "family": "Come sta ({value})?",
            "city": "Come va a {value}?",
            "likes": "Ti piace ancora {value}?",
            "other": "L'ultima volta mi hai raccontato: «{value}». Come è andata?",
        },
        know_other="Ricordo questo ({key}): {value}.",
        know_all="Ecco che cosa ricordo di te: {value}.",
        in_summary="Ricordo questo da prima: {value}",
        in_talk="Mi hai raccontato: «{value}».",
        unknown="Non lo so: non me l'hai ancora raccontato.",
        not_in_reach="Su «{value}»: non posso saperlo, so solo quello che mi racconti.",
        found="L'ho cercato: {value}",
        topic="Ho letto quello che scrivi su «{value}». Raccontami di più.",
        between="» e «",
        thanks="Prego!",
        goodbye="A presto!",
        agreed="Va bene.",
        noted="Me lo sono segnato.",
        forgotten="L'ho dimenticato.",
        not_forgotten="Non ho segnato niente del genere.",
        medium="Grazie, mi è arrivato: {value}.",
        how_are_you="Come stai?",
        new_here="Come ti chiami?",
    ),
}
