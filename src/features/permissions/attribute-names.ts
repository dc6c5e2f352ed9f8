/** Attributes of the caller that conditions can name: `{{identity.id}}`, `{{identity.metadata.team}}`. Not its name: a rename
 * would change what it may do. */
const ATTRIBUTE = /\{\{\s*identity\.(?:id|metadata\.[^{}\s]+)\s*\}\}/g;

/** Keys of metadata have at most this many characters. */
export const MAX_METADATA_KEY = 64;
/** How long the name of an attribute can be in a text, without blanks. */
export const LONGEST_ATTRIBUTE = '{{identity.metadata.}}'.length + MAX_METADATA_KEY;

/** A text with a letter in the place of each attribute: the pattern as it is once they are filled in. */
export const withStandIns = (text: string): string => text.replace(ATTRIBUTE, 'x');

/** Whether all that a text names between `{{` and `}}` are attributes that a caller can have. */
export const namesKnownAttributes = (text: string): boolean => !withStandIns(text).includes('{{');
