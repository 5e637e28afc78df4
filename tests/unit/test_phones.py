"""One person is one key, however their number is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatsapp_agent.phones import canonical


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("+34600111222", "+34600111222"),
        ("34600111222", "+34600111222"),
        ("+1 555 000 1111", "+15550001111"),
        ("(1) 555-000.1111", "+15550001111"),
        ("0015550001111", "+15550001111"),
        ("٩٦٦٥٠٠٠١١١١", "+96650001111"),
        ("＋３４６００１１１２２２", "+34600111222"),
        ("\u200e+34\u00a0600 111 222\u200f", "+34600111222"),
        ("whatsapp:+34600111222", "+34600111222"),
        ("tel:+34-600-111-222", "+34600111222"),
        ("34600111222@s.whatsapp.net", "+34600111222"),
        ("34600111222@c.us", "+34600111222"),
    ],
)
def test_every_spelling_of_a_number_is_one_key(address: str, key: str) -> None:
    assert canonical(address) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5215550001111", "525550001111"),
        ("5491155550000", "541155550000"),
        ("551187654321", "5511987654321"),
    ],
)
def test_numbers_with_and_without_the_extra_mobile_digit_are_one_person(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


def test_a_brazilian_landline_gets_no_ninth_digit() -> None:
    assert canonical("551132654321") == "+551132654321"


@pytest.mark.parametrize("user_id", ["US.13491208655302741918", "AR.54911abc", "MX.5215550001111"])
def test_a_user_id_stays_as_it_is(user_id: str) -> None:
    assert canonical(user_id) == user_id


@pytest.mark.parametrize(
    "address",
    [
        "",
        " ",
        "+",
        "maya",
        "+12345",
        "+1234567890123456",
        "0600111222",
        "34600111222x",
        "us.13491208",
        "US.",
        "US.1 2",
        "120363041234567890@g.us",
        "12345678@newsletter",
    ],
)
def test_what_is_neither_a_phone_nor_a_user_id_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="phone number") as caught:
        canonical(address)
    assert not address.strip() or address not in str(caught.value)


def test_the_digits_of_another_kind_of_id_are_nobodys_phone() -> None:
    with pytest.raises(ValueError, match="phone number"):
        canonical("34600111222@lid")


@given(st.text() | st.from_regex(r"\A\+?[0-9 ()-]{5,20}\Z"))
def test_a_key_is_its_own_key(address: str) -> None:
    try:
        key = canonical(address)
    except ValueError:
        return
    assert canonical(key) == key
    assert key.startswith("+") or "." in key
