/** Abbreviations that count like the full name of a condition: `hta` (hipertensión arterial). Separated by spaces. */
export const abbreviations = `hta dm1 dm2 dmt1 dmt2 dmii dmid epoc vih hiv vph hpv acv ecv evc iam icc irc erc erct irct
  tbc tvp tep tdah tea toc tept tlp tce hpb hbp sop erge ivu itu eda lla lma lmc llc lnh pti vppb saos sahos eii cuci fqp
  dbt vhb vhc hsa covid19 h1n1 hvb hvc rciu ehi ait hiv copd adhd ocd ptsd pcos gerd ibs t1d t2d`;

/**
 * Abbreviations with several meanings: `dm` (diabetes mellitus). They count as conditions only after a word for a
 * diagnosis, with at most three words between: `dx dm`.
 */
export const unclearAbbreviations = "dm ic fa ar ela em tb its ets tag ira ca hda fv lh ea dlp oa";
