import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";

const refused = ["CONTAINS_DIAGNOSIS"];

describe("a condition is a diagnosis", () => {
  it.each([
    ["after a word for a diagnosis", "Diagnóstico: diabetes mellitus"],
    ["after a verb for it", "me diagnosticaron hipertensión"],
    ["some words after it", "Mi diagnóstico según la doctora es fibromialgia"],
    ["as an abbreviation", "Dx: DM2 e HTA"],
    ["as a code without its point", "orden con diagnóstico J449"],
    ["before the diagnosis", "La migraña que me diagnosticaron hace un año"],
    ["beside its code", "la orden dice I10X hipertensión"],
    ["of those who have it", "tengo lupus y me sacaron al sol"],
    ["of those who suffer from it", "mi papá sufre de alzheimer"],
    ["by the name of an organ that one suffers from", "sufro de la tiroides"],
    ["that was found", "me salió cáncer en la biopsia"],
    ["that a test was positive for", "positivo para tuberculosis"],
    ["that is somebody's", "por mi epilepsia no puedo esperar"],
    ["that somebody is", "soy diabético"],
    ["that a relative is", "mi mamá hipertensa y diabética"],
    ["of a patient", "paciente de 67 años con insuficiencia renal"],
    ["that somebody was treated for", "hospitalizada por neumonía"],
    ["that somebody died of", "murió de cirrosis"],
    ["however it is spelled", "me dianosticaron ipertencion y diavetis"],
    ["in capitals without accents", "TENGO ESCLEROSIS MULTIPLE"],
    ["that no list names but its ending", "tengo una cardiomiositis"],
    ["among others", "tengo gripa, sobrepeso y diabetes"],
    ["of common ailments only after a word for a diagnosis", "dx gripa"],
    ["in English, of those who have it", "I have type 2 diabetes"],
    ["in English, of relatives", "My son has epilepsy"],
    ["in English, that somebody was diagnosed with", "He was diagnosed with prostate cancer"],
    ["in English, that somebody suffers from", "she suffers from severe arthritis"],
    ["in English, that is somebody's", "my mother's chronic kidney disease got worse"],
    ["in English, that somebody is", "I'm diabetic"],
    ["in English, of somebody's relatives", "both my parents are diabetic"],
    ["in English, that a test was positive for", "tested positive for hepatitis C"],
    ["in English, that somebody died of", "my uncle died of stomach cancer"],
    ["in English, that somebody was told", "the doctor said it is Parkinson's"],
    ["in English, of a survivor", "I am a cancer survivor"],
    ["in English, after a verb in Spanish", "tengo multiple sclerosis"],
    ["after a number with a decimal point", "she was diagnosed 2.5 years ago with epilepsy"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual(refused);
  });

  it("anywhere in a long text", () => {
    const filler = fc.constantFrom("la fila es larga. ", "nadie contesta. ", "Llegué a las 8:30. ");
    fc.assert(
      fc.property(fc.array(filler, { maxLength: 60 }), fc.array(filler, { maxLength: 60 }), (before, behind) => {
        expect(screenText(`${before.join("")}Tengo diabetes. ${behind.join("")}`)).toEqual(refused);
      }),
    );
  });
});

describe("a condition is not a diagnosis", () => {
  it.each([
    ["in the name of a service", "El centro de diagnóstico de cáncer está cerrado"],
    ["in ayudas diagnósticas", "las ayudas diagnósticas quedan lejos"],
    ["that a talk is about", "la charla de diabetes empezó tarde"],
    ["on a poster", "el afiche de vacunación contra la hepatitis"],
    ["of a program", "Quiero entrar al programa de hipertensos"],
    ["of a control", "me dieron la cita de control de hipertensión para diciembre"],
    ["of people in general", "los que tienen diabetes deberían pasar primero"],
    ["that is denied", "no tengo diabetes y me citan al programa"],
    ["in a comparison", "esa fila es un cáncer"],
    ["of common ailments", "tengo gripa y fiebre"],
    ["of pregnancy", "tengo 7 meses de embarazo"],
    ["in English, that a service is for", "I need an appointment with the asthma clinic"],
    ["in English, that a campaign is about", "the HIV and hepatitis testing day was crowded"],
    ["in English, of people in general", "people with diabetes should go first"],
    ["in English, that is asked about", "do you have a diabetes specialist?"],
    ["in English, of a house", "Does the clinic have a stroke team?"],
    ["in English, that is denied", "I don't have diabetes and you keep calling me"],
    ["in English, that nobody has", "no one in my family has diabetes"],
    ["in English, that is ruled out", "the doctor ruled out cancer"],
    ["in English, of common ailments", "I have a cold and a headache"],
    ["in English, of a diagnosis that is an aim", "early diagnosis of cancer saves lives"],
    ["where a diagnosis is missing", "me negaron el diagnóstico"],
    ["in words that look like one", "tengo la factura y no tengo acceso"],
    ["in the next sentence", "Aún no me dan el diagnóstico. La charla de asma fue buena"],
    ["in the name of a medicine or what it is for", "la pastilla de la presión está agotada"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual([]);
  });
});
