import { randomInt } from 'node:crypto';
import { SealedText } from '../../../../../kernel/crypto/sealed-text.js';
import { classesOf, DEFAULT_REQUIREMENTS, type PasswordRequirements } from '../../password-rules/requirements.rules.js';

/** Windows allows shorter account names in a password. */
const SHORTEST_NAME = 3;

/**
 * Generates a cryptographically random password: at least the required number of characters of each class, the rest from all used classes,
 * in random order, and never containing the account name.
 */
export function generatePassword(
  username: string,
  requirements: PasswordRequirements = DEFAULT_REQUIREMENTS,
): SealedText {
  for (;;) {
    const password = draw(requirements);
    // The rules guarantee that there are enough characters.
    if (!holdsName(password, username)) return new SealedText(password);
  }
}

const holdsName = (password: string, username: string): boolean =>
  username.length >= SHORTEST_NAME && password.toLowerCase().includes(username.toLowerCase());

function draw(requirements: PasswordRequirements): string {
  const classes = classesOf(requirements);
  const all = classes.map(({ characters }) => characters).join('');
  const drawn = classes.flatMap(({ least, characters }) => Array.from({ length: least }, () => oneOf(characters)));
  while (drawn.length < requirements.length) drawn.push(oneOf(all));
  // Fisher-Yates shuffle: every order is equally likely.
  for (let at = drawn.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [drawn[at], drawn[other]] = [drawn[other] as string, drawn[at] as string];
  }
  return drawn.join('');
}

const oneOf = (characters: string): string => characters.charAt(randomInt(characters.length));
