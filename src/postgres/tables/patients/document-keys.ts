/** Two document types are the same if these are equal: case does not count, nor another form of the same character. */
export function documentTypeKey(documentType: string): string {
  return foldCase(documentType);
}

/** Two document numbers are the same if these are equal: spaces, dots, hyphens and slashes do not count either. */
export function documentNumberKey(documentNumber: string): string {
  return foldCase(documentNumber).replaceAll(/[ ./-]/g, "");
}

/** Compatibility forms (NFKC), upper case, and nothing that is not seen or only stands on another character. */
function foldCase(text: string): string {
  return text
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "");
}
