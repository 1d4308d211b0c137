import { oneOf } from "./word-classes.js";

/** Words that may stand between the name of a condition and an English word that states it: `has a mild …`. */
export const filler = oneOf(`a an the my his her our their this that some also very really severe severely serious mild
  moderate acute chronic early late advanced stage type grade possible probable suspected bad terrible terminal another new
  and or plus with of from for by to in on at as both two second first old such called confirmed positive case cases form
  kind attack attacks episode episodes disease condition problem problems since about probably likely clearly currently
  still now already again just actually known being been congenital recurrent untreated uncontrolled poorly controlled`);

/** Services, topics and things. A condition next to such a word is not a person's condition: `diabetes workshop`. */
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

/** Verbs that say that somebody has, suffers from or gets a condition. */
export const having =
  oneOf(`have has had having ve suffer suffers suffered suffering got gotten get developed developing
  contracted caught catch battling battled fighting battle experiencing beat beats
  beaten overcame overcome defeated fought`);
/** Actions and states. A preposition after such a word introduces the cause: `died of`, `hospitalized with`. */
export const caused = oneOf(`died dies dying hospitalized hospitalised admitted treated treating treatment
  operated surgery surgeries recovering recovered recovery survived survivor living live lives lived born diagnosed complications history sick ill
  hospitalization tested positive chemo chemotherapy radiotherapy dialysis disabled infected remission suffering suffers
  suffered suffer battle patient someone lost losing fight struggle struggling struggles`);
/** Prepositions that connect a state with its cause. */
export const preposition = oneOf("of from with for by due to");
/** Verbs that say that somebody or something found a condition. */
export const finding = oneOf(`found find finds detected discovered confirmed confirms confirm shows showed shown reveals
  revealed reveal indicates indicated suggests suggested says said indicating back reads`);
/** Words for reports, as in `told me it is …`. */
export const telling = oneOf("told said says explained informed biopsy results result scan report doctor mri");
/** Words for one person. */
export const person = oneOf(`patient mother mom mum father dad wife husband son daughter child kid baby boy girl
  brother sister uncle aunt cousin nephew niece grandmother grandfather grandma grandpa grandson granddaughter partner
  boyfriend girlfriend friend neighbor neighbour man woman lady roommate coworker toddler newborn teenager mama papa relative`);
/** Words for several relatives. They mean particular people only after a possessive: `my parents`. */
export const persons = oneOf("parents kids children sons daughters brothers sisters grandparents twins parent");
/** Possessives. */
export const owner = oneOf("my his her our");
/** Forms of `to be`, including `m` from `I'm` and `hes` from `he's`. */
export const being = oneOf("am m im is s was been became becoming re are were being hes shes");
/** Words for people in general and for organizations: `people who have …`, `do you have …`. */
export const anyone =
  oneOf(`people patients those anyone anybody someone somebody everyone everybody whoever you if many
  users adults women men persons who others nobody none clinic hospital center centre company insurer eps place
  department institution building`);
/** Words that deny a statement. */
export const not = oneOf("not no never t without nor neither cannot ruled out rule denies excluded nobody none hardly");
/** Words that may stand between a denial and its verb. */
export const auxiliary = oneOf(`have has had ever been be do does did really to actually any being longer`);
/** Words for a person after the name of a condition: `cancer survivor`. */
export const bearer = oneOf("survivor patient victim sufferer");
