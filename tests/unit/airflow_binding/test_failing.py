import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowTaskTimeout

from plimsoll_airflow.runs.own_task import final


@pytest.mark.parametrize("error", [ValueError("its reason"), AirflowTaskTimeout("its reason")])
def test_what_another_try_would_only_meet_again_ends_the_task(error: BaseException) -> None:
    with pytest.raises(AirflowFailException, match="its reason"), final():
        raise error
