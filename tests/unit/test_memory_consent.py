import pytest

from whatsapp_agent.memory.consent import is_exactly, is_stop


@pytest.mark.parametrize(
    "text",
    [
        "STOP", "stop.", " Stop ", "ＳＴＯＰ", "\u200fSTOP", "PARAR", "ARRÊT", "arret", "ST\u200bOP", "Stop!!!",
        "«stop»", "🛑 STOP 🛑️", "opt-out", "Opt out", "stop  all", "Unsubscribe", "BAJA", "darme de baja",
        "Стоп", "توقف", "توقّف", "إلغاء الاشتراك", "停止", "退订", "ストップ", "ｽﾄｯﾌﾟ", "중지", "रुको", "หยุด",
        "abonelikten çık", "DỪNG LẠI", "הסר", "stopp", "στοπ", "\u2066stop\u2069",
    ],
)  # fmt: skip
def test_a_whole_message_that_asks_for_silence_is_a_stop(text):
    assert is_stop(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "\u200b", "...", "🛑", "don't stop", "stop it, you make me laugh", "non-stop", "bus stop",
        "cancel", "end", "para mañana", "is this the last stop?", "stopover", "STOP1", "no", "ok",
    ],
)  # fmt: skip
def test_other_messages_are_no_stop(text):
    assert not is_stop(text)


@pytest.mark.parametrize("text", ["Adiós, Max!", "adios max", "ＡＤＩÓＳ ＭＡＸ"])
def test_an_agents_own_words_count_in_any_spelling(text):
    assert is_stop(text, ("adiós max",))
    assert not is_stop(text)


def test_an_own_word_without_letters_stops_nobody():
    assert not is_stop("!!!", ("!", ""))
    assert not is_stop("hello", ("!", ""))


@pytest.mark.parametrize(
    "text", ["Forget me", "forget me!", "ＦＯＲＧＥＴ　ＭＥ", "\u200fforget  me \u200e", "Forget me 🙏"]
)
def test_an_exact_phrase_counts_in_any_spelling(text):
    assert is_exactly(text, ("forget me",))


@pytest.mark.parametrize("text", ["", "!", "don't forget me", "forget me not", "forget", "stop"])
def test_anything_more_or_less_is_not_exactly_it(text):
    assert not is_exactly(text, ("forget me", "", "!"))
