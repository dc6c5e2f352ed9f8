import { randomInt } from 'node:crypto';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { classesOf, DEFAULT_REQUIREMENTS, type PasswordRequirements } from '../../password-rules/requirements.rules.js';

/** Windows lets a password have a shorter name in it. */
const SHORTEST_NAME = 3;

/**
 * A new password: at least as many characters of each class as are required, the others from all classes that are used, in random
 * order, and never with the name of the account in it. Cryptographically random.
 *
 * Source: behaviour 9.10, rotation-targets A11.
 */
export function generatePassword(
  username: string,
  requirements: PasswordRequirements = DEFAULT_REQUIREMENTS,
): SealedText {
  for (;;) {
    const password = draw(requirements);
    // The rules see to it that there are enough characters for others.
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
  // Fisher and Yates: each order is as likely as any other.
  for (let at = drawn.length - 1; at > 0; at -= 1) {
    const other = randomInt(at + 1);
    [drawn[at], drawn[other]] = [drawn[other] as string, drawn[at] as string];
  }
  return drawn.join('');
}

const oneOf = (characters: string): string => characters.charAt(randomInt(characters.length));
