"""When a person asks for silence."""

import unicodedata
from collections.abc import Sequence

from whatsapp_agent.memory.likeness import without_accents

# Only words that mean this and nothing else when they are a whole message: "cancel", "end" and "quit" may be
# meant for an order, so an agent that wants them names them in `stop_words`.
_STOP_WORDS = """
    stop|stop all|stopall|unsubscribe|opt out|optout|stop messages|stop messaging me
    parar|para ya|detener|baja|darme de baja|dar de baja|cancelar suscripcion|no me escribas mas
    smetti|smettila di scrivermi|fermati|cancellami|annulla iscrizione|disiscrivimi
    pare|sair da lista|descadastrar|cancelar inscricao|cancelar subscricao
    arret|arreter|arretez|arrete|desabonner|me desabonner|desinscription
    stopp|abmelden|abbestellen|keine nachrichten mehr
    stoppen|afmelden|uitschrijven
    avsluta|avregistrera|avslutt|afmeld|stop beskeder
    lopeta|peruuta tilaus
    wypisz|zatrzymaj|przestan
    zastavit|odhlasit|opreste|dezabonare|leiratkozas|allj
    dur|durdur|abonelikten cik
    стоп|отписаться|отписка|остановить|не пишите мне|стій|відписатися|зупинити|спри
    στοπ|σταματα|διακοπη
    توقف|قف|إيقاف|ايقاف|إلغاء الاشتراك|الغاء الاشتراك|لا ترسل
    הסר|עצור|הפסק
    لغو|لغو اشتراک|بس کرو
    रुको|रोकें|बंद करो|बंद करें|स्टॉप
    বন্ধ|বন্ধ করুন
    berhenti|berhenti langganan
    dừng|dừng lại|hủy đăng ký|huỷ đăng ký
    หยุด|ยกเลิกการรับข่าวสาร
    停止|停|退订|退訂|取消订阅|取消訂閱
    配信停止|ストップ|やめて
    중지|정지|수신거부|그만
    acha|simama
"""


def _folded(text: str) -> str:
    """Letters, marks and digits only, in one width and case; everything else is a space."""
    seen = (c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    plain = without_accents("".join(c for c in seen if not "\ufe00" <= c <= "\ufe0f"))
    return " ".join("".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in plain).split())


_FOLDED_STOP_WORDS = frozenset(
    _folded(word) for line in _STOP_WORDS.split("\n") for word in line.split("|")
) - {""}


def is_stop(text: str, extra: Sequence[str] = ()) -> bool:
    """Whether the whole message asks not to be written to, in any width, case or language listed.

    Args:
        text: The message as it came; punctuation, emoji and invisible characters around the words don't matter.
        extra: More messages that mean it, such as an agent's `stop_words`.
    """
    return _folded(text) in _FOLDED_STOP_WORDS or is_exactly(text, extra)


def is_exactly(text: str, phrases: Sequence[str]) -> bool:
    """Whether the whole message is one of the phrases, whatever its width, case, punctuation and emoji."""
    folded = _folded(text)
    return bool(folded) and folded in {_folded(phrase) for phrase in phrases}
