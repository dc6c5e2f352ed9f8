// Our own, since `content-type` passes over what is no parameter, and over a second `charset`, by which a body could be read otherwise.

const JSON_TYPE = /^application\/(?:json|graphql-response\+json|merge-patch\+json)[ \t]*(?=;|$)/i;
const FORM_TYPE = /^application\/x-www-form-urlencoded[ \t]*(?=;|$)/i;
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
/** One parameter, or none after its semicolon: RFC 9110 lets `application/json;` pass. */
const PARAMETER = new RegExp(`;[ \\t]*(?:(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN})))?[ \\t]*`, 'y');

/**
 * Whether a `Content-Type` says JSON in UTF-8, the whole of it read: a server that looks at the beginning only takes
 * `application/jsonx` or `application/json, text/plain` for JSON. Parameters other than `charset` say nothing.
 */
export const isJsonMediaType = (header: string): boolean => isInUtf8(JSON_TYPE, header);

/** The same of a form. */
export const isFormMediaType = (header: string): boolean => isInUtf8(FORM_TYPE, header);

function isInUtf8(wanted: RegExp, header: string): boolean {
  const type = wanted.exec(header);
  if (type === null) return false;
  const charsets: string[] = [];
  for (let at = type[0].length; at < header.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(header);
    if (found === null) return false;
    const [, name, quoted, plain] = found;
    if (name?.toLowerCase() === 'charset') charsets.push(quoted ?? plain ?? '');
  }
  return charsets.length <= 1 && charsets.every((charset) => /^utf-?8$/i.test(charset));
}
