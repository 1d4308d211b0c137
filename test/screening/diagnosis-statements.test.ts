import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { screenText } from "../../src/screening/screen-text.js";

const refused = ["CONTAINS_DIAGNOSIS"];

describe("a condition is a diagnosis", () => {
  it.each([
    ["behind a word for a diagnosis", "Diagnóstico: diabetes mellitus"],
    ["behind a verb for it", "me diagnosticaron hipertensión"],
    ["some words behind it", "Mi diagnóstico según la doctora es fibromialgia"],
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
    ["of common ailments only behind a word for a diagnosis", "dx gripa"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual(refused);
  });

  it("wherever it stands in a long text", () => {
    const filler = fc.constantFrom("la fila es larga. ", "nadie contesta. ", "Llegué a las 8:30. ");
    fc.assert(
      fc.property(fc.array(filler, { maxLength: 60 }), fc.array(filler, { maxLength: 60 }), (before, behind) => {
        expect(screenText(`${before.join("")}Tengo diabetes. ${behind.join("")}`)).toEqual(refused);
      }),
    );
  });
});

describe("a condition is none", () => {
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
    ["where a diagnosis is missing", "me negaron el diagnóstico"],
    ["in words that look like one", "tengo la factura y no tengo acceso"],
    ["in the next sentence", "Aún no me dan el diagnóstico. La charla de asma fue buena"],
    ["in the name of a medicine or what it is for", "la pastilla de la presión está agotada"],
  ])("%s: %s", (_, text) => {
    expect(screenText(text)).toEqual([]);
  });
});
