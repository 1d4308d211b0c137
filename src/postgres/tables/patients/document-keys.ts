/**
 * Returns the key of a document type. Two types are the same if their keys are equal. The key ignores case, invisible
 * characters and compatibility variants of characters (NFKC). It also ignores combining marks that are not part of a
 * composed character.
 */
export function documentTypeKey(documentType: string): string {
  return foldCase(documentType);
}

/**
 * Returns the key of a document number. Two numbers are the same if their keys are equal. The key ignores spaces, dots,
 * hyphens (-), slashes (/) and everything that {@link documentTypeKey} ignores.
 */
export function documentNumberKey(documentNumber: string): string {
  return foldCase(documentNumber).replaceAll(/[ ./-]/g, "");
}

/**
 * Returns a text in compatibility composition (NFKC) and upper case. Removes invisible characters, and combining marks
 * that are not part of a composed character. For example, É stays.
 */
function foldCase(text: string): string {
  return text
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "");
}
