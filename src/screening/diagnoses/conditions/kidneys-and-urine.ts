/** Names of conditions of the kidneys, the urinary tract and the male organs, separated by commas. */
export const kidneysAndUrine = `
  insuficiencia renal, insuficiencia renal crónica, falla renal, enfermedad renal, enfermedad renal crónica,
  enfermedad de los riñones, enfermedad del riñón, nefritis, nefritis lúpica, glomerulonefritis, glomerulopatía,
  síndrome nefrótico, nefropatía, riñones poliquísticos, riñón poliquístico, cálculos renales, cálculo renal,
  cálculos en los riñones, cálculo en el riñón, cálculos en el riñón, piedras en los riñones, piedra en el riñón,
  piedras en el riñón, nefrolitiasis, urolitiasis, litiasis renal, hidronefrosis, pielonefritis, cistitis, uretritis,
  reflujo vesicoureteral, vejiga hiperactiva, vejiga neurogénica, vejiga caída, incontinencia urinaria, hematuria,
  prostatitis, hiperplasia prostática, hiperplasia de próstata, próstata inflamada, próstata grande,
  próstata agrandada, prostatismo, varicocele, hidrocele, orquitis, epididimitis, criptorquidia, fimosis,
  torsión testicular, hipospadias, disfunción eréctil, infertilidad, impotencia sexual, estenosis de uretra,
  pérdida del riñón, monorreno, uremia`;
