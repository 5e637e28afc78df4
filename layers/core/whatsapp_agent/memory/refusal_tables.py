"""Words by which `refusals` knows an order, a secret or an empty value, by language.

Regular expressions over text as `likeness.without_accents` folds it: lower case, Latin letters without marks,
digits of any script as 0 to 9. A language is added by adding a row.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Orders:
    """How orders to an agent sound in one language.

    Attributes:
        always: Words for always, never, only.
        verbs: What an agent would be ordered to do. Forms that also tell what a person does ("she always
            talks to her mother") are left out where the language allows it.
        ignore: Verbs of setting rules aside.
        rules: What would be set aside.
        must: Phrases that are an order by themselves.
        lead: What has to stand before the adverb.
        gap: What may stand between an adverb and its verb.
        edge: What bounds a word; nothing in scripts where Python sees no word boundaries.
        verb_last: Whether a sentence ends with its verb.
    """

    always: str
    verbs: str
    ignore: str
    rules: str
    must: str
    lead: str = r"\b"
    gap: str = r"\s+(?:\S+\s+){0,2}?"
    edge: str = r"\b"
    verb_last: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.split("|"))


ORDERS: dict[str, Orders] = {
    "en": Orders(
        # An order begins a sentence or follows a word that makes it one: "I never say no to cake" is none.
        lead=r"(?:^|[.,;:!?\"] ?|\b(?:to|you|must|should|shall|please|remember|that) )",
        always="always|never|only",
        verbs="answer|reply|respond|agree|say|tell|mention|reveal|refuse|obey|recommend|promote|include|"
        "approve",
        ignore="ignore|disregard|forget|override|bypass",
        rules="instructions?|rules?|prompt|guidelines?|everything above",
        must=r"you (?:must|have to|are now|will now|should (?:always|never|only))|from now on,? (?:you|"
        r"answer|reply|"
        r"respond|say|act|agree)|(?:pretend|act) (?:to be|as if you|as an? (?:ai|assistant|admin))|(?:the|"
        r"this) "
        r"(?:agent|assistant|bot|ai|model) (?:must|should|has to|shall|needs to)|system prompt|(?:answer|reply|"
        r"respond) (?:only )?with (?:https?|www)",
    ),
    "es": Orders(
        always="siempre|nunca|jamas|solo",
        verbs="contest(?:a|e|es|ar|ame|arme)|respond(?:e|a|as|er|eme|erme)|di|dime|decirme|digas|diga|"
        "acept(?:es|ar)|"
        "recomienda|recomendar|obedece|obedecer|reveles|menciones|(?:dame|darme|darle) la razon|"
        "estes de acuerdo",
        ignore="ignor(?:a|ar|es)|olvid(?:a|ar|es)|desobedece",
        rules="instruccion(?:es)?|reglas?|indicacion(?:es)?|normas",
        must=r"(?:a partir de ahora|desde ahora|de ahora en adelante),? (?:responde|contesta|di|debes|eres|"
        r"actua)|"
        r"debes (?!dinero)|tienes que|(?:agente|asistente|bot) (?:debe|tiene que)",
    ),
    "it": Orders(
        always="sempre|mai|solo|soltanto",
        verbs="rispond(?:i|ere|imi|ermi|a)|di|dimmi|dirmi|accetta(?:re)?|consiglia(?:re)?|obbedisci|"
        "obbedire|rivelare|"
        "menzionare|(?:dammi|darmi) ragione|essere d.?accordo",
        ignore="ignora(?:re)?|dimentica(?:re)?",
        rules="istruzion[ei]|regol[ae]|indicazion[ei]",
        must=r"d.ora in (?:poi|avanti),? (?:rispondi|di|devi|sei)|devi (?:sempre|solo|rispondere|dire|dirmi)|"
        r"(?:agente|assistente|bot) deve",
        gap=r"\s+(?:\S+\s+){0,1}?",
    ),
    "pt": Orders(
        always="sempre|nunca|jamais|apenas|so",
        verbs="respond(?:a|e|er|as)|diga|digas|aceit(?:e|ar)|recomend(?:e|ar)|obedec(?:a|er)|revel(?:e|ar)|"
        "mencione|"
        "concord(?:e|ar)|de-me razao",
        ignore="ignor(?:e|a|ar)|esquec(?:a|er)",
        rules="instruc(?:ao|oes)|regras?|orientacoes",
        must=r"(?:a partir de agora|de agora em diante),? (?:responda|diga|voce|seja)|voce (?:deve|tem que|"
        r"e agora)|"
        r"(?:agente|assistente|bot) (?:deve|tem que)",
    ),
    "fr": Orders(
        always="toujours|jamais|seulement|uniquement",
        verbs="repond(?:s|re|ez)|dis|dites|accepte[rz]?|recommande[rz]?|obeis|obeir|revele[rz]?|mentionne[rz]?|"
        "(?:etre|sois) d.accord",
        ignore="ignore[rz]?|oublie[rz]?",
        rules="instructions?|regles?|consignes?",
        must=r"(?:desormais|a partir de maintenant),? (?:tu|vous|reponds|dis)|tu dois|vous devez|(?:agent|"
        r"assistant|"
        r"bot) doit",
    ),
    "de": Orders(
        always="immer|nie|niemals|nur|stets",
        verbs="antworte[nt]?|antworten|sag|sage|zustimmen|stimme? zu|empfiehl|empfehlen|gehorche[n]?|"
        "verrate[n]?|"
        "erwahne[n]?|recht geben",
        ignore="ignorier(?:e|en)?|vergiss|missachte",
        rules="anweisung(?:en)?|regeln?|vorgaben",
        must=r"ab (?:jetzt|sofort),? (?:du|antworte|sag|bist)|du (?:musst|sollst|darfst nur|bist jetzt)|"
        r"(?:agent|"
        r"assistent|bot) (?:muss|soll)",
    ),
    "ar": Orders(
        always="دائما|دوما|ابدا|أبدا|فقط",
        verbs="أجب|اجب|أجبني|قل|وافق|وافقني|رد|تقل|أوص",
        ignore="تجاهل|انس",
        rules="التعليمات|القواعد|الأوامر",
        must="يجب عليك|يجب أن ت|من الآن فصاعدا",
    ),
    "ru": Orders(
        always="всегда|никогда не|только",
        verbs="отвечай|отвечать|говори|соглашайся|соглашаться|рекомендуй|упоминай|раскрывай",
        ignore="игнорируй|игнорировать|забудь",
        rules="инструкц\\w*|правил\\w*|указани\\w*",
        must="ты (?:должен|должна|теперь)|отныне|(?:агент|бот|ассистент) (?:должен|обязан)",
    ),
    "tr": Orders(
        always="her zaman|daima|asla",
        verbs="cevap ver|yanit ver|soyle|onayla|katil",
        ignore="yok say|unut|gormezden gel",
        rules="talimat\\w*|kural\\w*",
        must="bundan sonra|zorundasin",
        verb_last=True,
    ),
    "zh": Orders(
        always="总是|總是|永远|永遠|始终|必须|一定要|只能",
        verbs="回答|回复|回覆|同意|推荐|推薦|说",
        ignore="忽略|无视|無視|忘记|忘掉",
        rules="指令|指示|规则|規則|提示词",
        must="从现在开始你|从现在起你|你必须|你现在是",
        gap=".{0,4}?",
        edge="",
        verb_last=True,
    ),
    "ja": Orders(
        always="必ず|常に|いつも|絶対に",
        verbs="答えて|答えろ|返事して|同意して|言って|言え|勧めて|従って",
        ignore="無視|忘れ",
        rules="指示|命令|ルール",
        must="これからはあなた|あなたは今から|なければならない。?あなた",
        gap=".{0,10}?",
        edge="",
        verb_last=True,
    ),
    "hi": Orders(
        always="हमेशा|कभी नहीं|केवल",
        verbs="जवाब दो|जवाब दें|जवाब देना|सहमत रहो|सहमत रहें|कहो|बोलो",
        ignore="अनदेखा|भूल जाओ|नज़रअंदाज़",
        rules="निर्देश\\S*|नियम\\S*",
        must="तुम्हें \\S+ होगा|अब से तुम",
        edge="",
        verb_last=True,
    ),
}

CREDENTIAL_WORDS = (
    r"passwords?|passcode|passphrase|passwd|pwd|contrasena|clave(?: de acceso| secreta)?|"
    r"mot de passe|senha|palavra-passe|passwort|kennwort|wachtwoord|losenord|haslo|sifre|parola|"
    r"пароль|كلمة (?:المرور|السر|مروري|سري)|密码|密碼|パスワード|पासवर्ड|비밀번호"
)

CODE_WORDS = (
    r"pin(?: code)?|otp|cvv2?|cvc2?|tan|2fa|code|codigo|codice|code secret|(?:bestatigungs|sicherheits)?code|"
    r"token|код|رمز|الرمز|验证码|驗證碼|認証コード|暗証番号|인증번호|kod|kodu"
)

HARMLESS_CODES = (
    r"postal|zip|post|area|country|promo|discount|coupon|dress|product|dialling|dialing|di avviamento|"
    r"descuento|"
    r"desconto|sconto|promotionnel"
)
"""Words beside a code word that make it a harmless one."""

LINKS = (
    r"number|is|was|are|es|era|e|est|ist|lautet|de|di|du|del|verificacion|seguridad|acceso|confirmacion|"
    r"verifica|"
    r"sicurezza|accesso|verification|securite|verificacao|seguranca|confirmacao|подтверждения|التحقق|"
    r"التأكيد|هو|هي|my|for|the|new"
)
"""What may stand between the word and the secret."""

NOTHING = _words("""
    unknown|n a|na|none|null|nothing|not specified|not mentioned|not stated|no information|
    unspecified|desconocido|ninguno|ninguna|nada|no especificado|sconosciuto|nessuno|niente|non specificato|
    desconhecido|nenhum|nao informado|inconnu|aucun|non precise|unbekannt|keine|nichts|
    غير معروف|لا شيء|неизвестно|不明|未知|無|无
""")

GREETINGS = _words("""
    hi|hello|hey|good morning|good afternoon|good evening|good night|thanks|thank you|bye|goodbye|
    ok|okay|hola|buenos dias|buenas tardes|buenas noches|buenas|gracias|adios|ciao|buongiorno|buonasera|
    buonanotte|
    grazie|arrivederci|ola|oi|bom dia|boa tarde|boa noite|obrigado|obrigada|tchau|bonjour|bonsoir|salut|merci|
    au revoir|hallo|guten morgen|guten tag|guten abend|danke|tschuss|مرحبا|السلام عليكم|شكرا|
    привет|спасибо|你好|谢谢|こんにちは|ありがとう|नमस्ते|धन्यवाद|merhaba|tesekkurler
""")

AFFIRMATIONS = _words("""
    yes|yeah|yep|yup|sure|right|exactly|correct|true|indeed|si|claro|exacto|correcto|asi es|certo|
    esatto|giusto|sim|isso|oui|ouais|exactement|ja|genau|richtig|stimmt|klar|نعم|أجل|ايوه|صحيح|да|верно|
    конечно|evet|dogru|
    是|是的|对|對|嗯|はい|うん|そうです|हाँ|हां|जी|tak|jo|da|igen|네|응|👍|👌|✅
""")
"""How a person makes the agent's words their own: by answering its question with one of these first."""
