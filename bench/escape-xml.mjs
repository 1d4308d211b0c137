/** A text as it stands between the tags of XML. */
export function escapeXml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
