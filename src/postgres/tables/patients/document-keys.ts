/**
 * Returns the key of a document type. Types with equal keys are the same: case and compatibility forms do not count.
 */
export function documentTypeKey(documentType: string): string {
  return foldCase(documentType);
}

/**
 * Returns the key of a document number. Numbers with equal keys are the same: spaces, dots, hyphens and slashes do not
 * count either.
 */
export function documentNumberKey(documentNumber: string): string {
  return foldCase(documentNumber).replaceAll(/[ ./-]/g, "");
}

/**
 * Composes compatibility forms (NFKC), converts to upper case, and removes combining marks and invisible characters.
 */
function foldCase(text: string): string {
  return text
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "");
}
