"""Names of months and quarters in the languages of Europe, as they are written in dates."""

from __future__ import annotations

_MONTHS = {
    1: "jan january januar janvier janv jän jaen jänner enero ene gennaio gen janeiro "
    "januari sty styczeń stycznia led leden ledna ocak янв январь января ianuarie janúar "
    "ιαν tammikuu tammi",
    2: "feb february februar février fevrier févr fév fev febrero febbraio fevereiro "
    "februari lut luty lutego úno únor února şubat şub фев февраль февраля februarie "
    "helmi helmikuu",
    3: "mar march märz maerz mrz mär mars marzo março marco maart mrt marzec marca bře "
    "březen března mart мар март марта martie maalis maaliskuu",
    4: "apr april avril avr abril abr aprile kwi kwiecień kwietnia dub duben dubna nisan nis "
    "апр апрель апреля aprilie huhti huhtikuu",
    5: "may mai mayo maggio mag maio mei maj maja kvě květen května mayıs май мая touko toukokuu",
    6: "jun june juni juin junio giugno giu junho cze czerwiec czerwca čvn červen června "
    "haziran haz июн июнь июня iunie kesä kesäkuu",
    7: "jul july juli juillet juil julio luglio lug julho lip lipiec lipca čvc červenec "
    "července temmuz tem июл июль июля iulie heinä heinäkuu",
    8: "aug august août aout agosto ago augustus augusti sie sierpień sierpnia srp srpen "
    "srpna ağustos ağu авг август августа elo elokuu",
    9: "sep sept september septembre septiembre set settembre setembro wrz wrzesień września "
    "zář září eylül eyl сен сент сентябрь сентября septembrie syys syyskuu",
    10: "oct october okt oktober octobre octubre ottobre ott outubro out paź październik "
    "października říj říjen října ekim eki окт октябрь октября octombrie loka lokakuu",
    11: "nov november novembre noviembre novembro lis listopad listopada listopadu kasım kas "
    "ноя нояб ноябрь ноября noiembrie marras marraskuu",
    12: "dec december dez dezember décembre decembre déc diciembre dic dicembre dezembro gru "
    "grudzień grudnia pro prosinec prosince aralık ara des desember дек декабрь декабря "
    "decembrie joulu joulukuu",
}
#: Word in lower case → number of the month.
MONTH_OF = {word: month for month, words in _MONTHS.items() for word in words.split()}
#: Roman number in lower case → quarter.
QUARTER_OF = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
