import { oneOf } from "./word-classes.js";

/**
 * Words that the search skips on its way from a condition back to a word such as `has`: `a` and `mild` in
 * `she has a mild depression`.
 */
export const filler = oneOf(`a an the my his her our their this that some also very really severe severely serious mild
  moderate acute chronic early late advanced stage type grade possible probable suspected bad terrible terminal another new
  and or plus with of from for by to in on at as both two second first old such called confirmed positive case cases form
  kind attack attacks episode episodes disease condition problem problems since about probably likely clearly currently
  still now already again just actually known being been congenital recurrent untreated uncontrolled poorly controlled`);

/**
 * Topics: words for services, events, documents and other things that can be about a condition. A condition before or
 * after a topic is usually not the condition of a person: `diabetes workshop`, `talk about living with lupus`.
 */
export const topic =
  oneOf(`talk talks workshop workshops poster posters sign signs leaflet leaflets brochure flyer program
  programs programme programmes course courses conference video videos campaign campaigns awareness month week day theme topic
  topics information info test tests testing screening screenings detection prevention vaccine vaccines vaccination shot shots
  unit units clinic clinics center centre centers ward wards wing institute foundation association group groups club support
  specialist specialists doctor doctors nurse nurses expert service services room rooms floor line lines office offices lab
  laboratory kit control controls checkup consultation consultations appointment appointments diet menu statistics survey
  research study studies form forms hospital walk race ribbon education training committee insurance policy medicine medicines
  medication medications drug drugs pill pills prescription supplies outbreak alert season epidemic pandemic protest news
  fight against myths questions question song movie book magazine area schedule slot therapy therapies order orders
  authorization sample samples management guideline guidelines guide protocol protocols meeting meetings team teams staff department results result
  history cure risk risks symptoms monitor monitors meter strips machine mask app fair bus van`);

/**
 * Verb forms, before or after a condition, that say that somebody has or had it: `I have lupus`,
 * `the lupus that I suffer from`.
 */
export const having =
  oneOf(`have has had having ve suffer suffers suffered suffering got gotten get developed developing
  contracted caught catch battling battled fighting battle experiencing beat beats
  beaten overcame overcome defeated fought`);
/**
 * Words that say that somebody has or had an illness. A word of {@link preposition} and the name of the illness follow
 * them: `died of cancer`, `hospitalized with covid`.
 */
export const caused = oneOf(`died dies dying hospitalized hospitalised admitted treated treating treatment
  operated surgery surgeries recovering recovered recovery survived survivor living live lives lived born diagnosed complications history sick ill
  hospitalization tested positive chemo chemotherapy radiotherapy dialysis disabled infected remission suffering suffers
  suffered suffer battle patient someone lost losing fight struggle struggling struggles`);
/**
 * Words directly after `have` that change its meaning: `the cancer that I have read about`, `the cancer that I have a
 * question about`. Such a `have` does not say that somebody has the condition named before it. Participles with `ed`
 * are recognized separately.
 */
export const object =
  oneOf(`heard read seen known written told spoken taken found done given brought thought made been to
  a an the my no not any some another many several doubts concerns nothing`);
/** Prepositions between a word such as `died` and the condition: `of` in `died of cancer`. */
export const preposition = oneOf("of from with for by due to");
/**
 * Words before a condition that say that somebody or something found it: `they found a tumor`,
 * `the scan shows a tumor`.
 */
export const finding = oneOf(`found find finds detected discovered confirmed confirms confirm shows showed shown reveals
  revealed reveal indicates indicated suggests suggested says said indicating back reads`);
/**
 * Words that announce a condition before a form of `to be`: verbs of telling (`they told me it is lupus`) and sources
 * of a diagnosis (`the biopsy showed that it is cancer`).
 */
export const telling = oneOf("told said says explained informed biopsy results result scan report doctor mri");
/** Words for one person: `mother` in `my mother is diabetic`, `patient` in `a patient with lupus`. */
export const person = oneOf(`patient mother mom mum father dad wife husband son daughter child kid baby boy girl
  brother sister uncle aunt cousin nephew niece grandmother grandfather grandma grandpa grandson granddaughter partner
  boyfriend girlfriend friend neighbor neighbour man woman lady roommate coworker toddler newborn teenager mama papa relative`);
/**
 * Words for relatives, mostly in the plural. They mean particular people only directly after a word of {@link owner}:
 * `my parents are diabetic`.
 */
export const persons = oneOf("parents kids children sons daughters brothers sisters grandparents twins parent");
/** Possessive words before a condition or a person: `my lupus`, `her mother`. */
export const owner = oneOf("my his her our");
/**
 * Forms of `to be` and `to become`. An apostrophe separates words: `I'm` is read as `i` and `m`. `im`, `hes` and `shes`
 * are spellings without the apostrophe.
 */
export const being = oneOf("am m im is s was been became becoming re are were being hes shes");
/**
 * Words before a verb such as `have`. The verb then says nothing about a particular person: `anyone has lupus`,
 * `do you have lupus`. The list has words for people in general, organizations and places, and `if`.
 */
export const anyone =
  oneOf(`people patients those anyone anybody someone somebody everyone everybody whoever you if many
  users adults women men persons who others nobody none clinic hospital center centre company insurer eps place
  department institution building`);
/**
 * Words that deny the verb after them: `I do not have lupus`. `t` is the end of `don't`, which is read as `don` and
 * `t`.
 */
export const not = oneOf("not no never t without nor neither cannot ruled out rule denies excluded nobody none hardly");
/**
 * Words that the search skips on its way from a verb back to its subject or denial: `really` in
 * `I do not really have lupus`.
 */
export const auxiliary = oneOf(
  `have has had ever been be was were do does did really to actually any being longer yet`,
);
/** Words for a person directly after the name of a condition: `cancer survivor`. */
export const bearer = oneOf("survivor patient victim sufferer");
