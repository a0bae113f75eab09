from router.framework.compat import Compat
from tests.support.engine import make_handle


def test_ours_unless_asked_for() -> None:
    assert not Compat().reference
    assert not make_handle().compat.reference
    assert make_handle(compat=Compat(reference=True)).compat.reference
