/**
 * Attributes of the caller that conditions can name: `{{identity.id}}`, `{{identity.metadata.team}}`. Not its name: a
 * rename would change its rights.
 */
const ATTRIBUTE = /\{\{\s*identity\.(?:id|metadata\.[^{}\s]+)\s*\}\}/g;

/** Maximum length of metadata keys. */
export const MAX_METADATA_KEY = 64;
/** Maximum length of an attribute name in a text, without blanks. */
export const LONGEST_ATTRIBUTE = '{{identity.metadata.}}'.length + MAX_METADATA_KEY;

/** A text with a letter instead of each attribute: the shape of the pattern once they are filled in. */
export const withStandIns = (text: string): string => text.replace(ATTRIBUTE, 'x');

/** Whether every name between `{{` and `}}` is an attribute that a caller can have. */
export const namesKnownAttributes = (text: string): boolean => !withStandIns(text).includes('{{');
