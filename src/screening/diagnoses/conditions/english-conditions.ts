const ORGANS = `breast lung prostate colon rectal colorectal stomach gastric cervical uterine ovarian endometrial thyroid skin
  liver pancreatic kidney bladder esophageal throat tongue testicular brain bone blood`;
const BONES = `hip femur ankle knee wrist arm shoulder leg skull pelvis spine rib nose jaw`;

/** English names of conditions, separated by commas. */
export const englishConditions = `
  hypertension, high blood pressure, low blood pressure, hypotension, heart attack, heart failure, heart disease,
  heart condition, congenital heart disease, heart murmur, coronary disease, coronary artery disease, arrhythmia,
  atrial fibrillation, afib, tachycardia, bradycardia, angina, cardiomyopathy, aneurysm, thrombosis, blood clot, blood clots,
  pulmonary embolism, deep vein thrombosis, varicose veins, stroke, brain hemorrhage, peripheral artery disease,
  diabetes, diabetes mellitus, type 1 diabetes, type 2 diabetes, type one diabetes, type two diabetes,
  gestational diabetes, high blood sugar, prediabetes, insulin resistance, hypoglycemia, hyperglycemia, hypothyroidism,
  hyperthyroidism, underactive thyroid, overactive thyroid, thyroid disease, goiter, high cholesterol, obesity, morbid obesity,
  malnutrition, bulimia, anorexia, gout, cystic fibrosis, metabolic syndrome, polycystic ovary syndrome, polycystic ovaries,
  asthma, bronchitis, bronchiolitis, pneumonia, emphysema, chronic obstructive pulmonary disease, lung disease,
  pulmonary fibrosis, sleep apnea, sinusitis, tonsillitis, whooping cough, collapsed lung,
  covid, coronavirus, aids, syphilis, gonorrhea, chlamydia, herpes, genital herpes, genital warts, shingles, hepatitis,
  hepatitis a, hepatitis b, hepatitis c, tuberculosis, leprosy, dengue, zika, malaria, yellow fever, chickenpox,
  chicken pox, measles, mumps, rubella, polio, meningitis, encephalitis, tetanus, mononucleosis, sepsis, scabies, monkeypox, mpox,
  urinary tract infection, kidney infection, lung infection, blood infection, sexually transmitted disease,
  sexually transmitted infection, typhoid fever, rheumatic fever, lyme disease, chagas disease,
  cancer, tumor, tumour, brain tumor, brain tumour, carcinoma, melanoma, sarcoma, lymphoma, leukemia, leukaemia, myeloma,
  multiple myeloma, metastasis, neoplasm, cyst, cysts, fibroids, polyps, malignancy,
  ${listOf(ORGANS, ["cancer", "tumor"])},
  depression, major depression, severe depression, clinical depression, postpartum depression, depressive disorder,
  anxiety disorder, panic disorder, panic attacks, bipolar disorder, schizophrenia, psychosis, personality disorder,
  borderline personality disorder, obsessive compulsive disorder, post traumatic stress disorder, autism,
  autism spectrum disorder, asperger, attention deficit disorder, dyslexia, dementia, alzheimer, alzheimers,
  alcoholism, drug addiction, addiction, eating disorder, suicidal thoughts, mental illness, mental disorder,
  epilepsy, seizures, seizure disorder, convulsions, migraine, migraines, parkinson, parkinsons, multiple sclerosis, myasthenia gravis,
  neuropathy, sciatica, cerebral palsy, facial paralysis, paralysis, muscular dystrophy, huntington,
  hydrocephalus, spina bifida, down syndrome, downs syndrome, turner syndrome, carpal tunnel, carpal tunnel syndrome,
  brain damage, brain injury, spinal cord injury, vertigo disorder, restless legs syndrome,
  gastritis, stomach ulcer, stomach ulcers, peptic ulcer, acid reflux disease, hiatal hernia, inguinal hernia, hernia, colitis,
  ulcerative colitis, crohn, crohns, irritable bowel syndrome, celiac disease, lactose intolerance, diverticulitis,
  appendicitis, pancreatitis, gallstones, cirrhosis, fatty liver, liver disease, liver failure, jaundice, hemorrhoids,
  kidney failure, kidney disease, chronic kidney disease, renal failure, kidney stones, nephritis, cystitis, incontinence,
  enlarged prostate, erectile dysfunction, infertility,
  arthritis, rheumatoid arthritis, osteoarthritis, osteoporosis, fibromyalgia, scoliosis, herniated disc, slipped disc,
  bursitis, tendinitis, tendonitis, torn ligament, torn meniscus, rheumatism, spondylitis, hip dysplasia,
  ${listOf("broken fractured", BONES.split(/\s+/))},
  psoriasis, eczema, dermatitis, vitiligo, glaucoma, cataract, cataracts, macular degeneration, retinopathy, keratoconus,
  anemia, anaemia, sickle cell disease, sickle cell anemia, thalassemia, hemophilia, lupus, immune deficiency,
  autoimmune disease, endometriosis, preeclampsia, miscarriage, ectopic pregnancy, chronic fatigue syndrome,
  rare disease, terminal illness, genetic disorder`;

/**
 * English names of symptoms and minor ailments, and words with several meanings, separated by commas. They count as
 * conditions only after a word for a diagnosis, with at most three words between: `diagnosis: flu`.
 */
export const englishOnlyAsDiagnosis = `
  flu, influenza, cold, common cold, fever, cough, infection, virus, diarrhea, vomiting, pain, back pain, chronic pain,
  headache, dizziness, vertigo, fracture, sprain, concussion, burn, burns, wound, poisoning, allergy, allergies, stress,
  anxiety, insomnia, panic, phobia, ulcer, ulcers, constipation, acid reflux, rash, lump, nodule, nodules, lesion, warts,
  fungus, parasites, lice, overweight, bleeding, pregnancy, menopause, disability, fatigue, std, sti, hpv, als, ms, ckd, chf`;

/** English words for a person with a condition: `diabetic`. Separated by spaces. */
export const englishPeople = `diabetic asthmatic epileptic schizophrenic autistic bipolar alcoholic hypertensive paraplegic
  quadriplegic anorexic bulimic hemophiliac haemophiliac seropositive obese psychotic suicidal anemic celiac coeliac
  hypothyroid immunosuppressed immunocompromised arthritic`;

function listOf(first: string, seconds: readonly string[]): string {
  return first
    .trim()
    .split(/\s+/)
    .flatMap((one) => seconds.map((second) => `${one} ${second}`))
    .join(", ");
}
