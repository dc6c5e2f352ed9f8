import { Foundation } from './0001-foundation.js';
import { SecretLife } from './0002-secret-life.js';

/** Every migration, oldest first. A name stands in databases for ever: append, never rename or edit one that was released. */
export const migrations = [
  { name: '0001-foundation', class: Foundation },
  { name: '0002-secret-life', class: SecretLife },
] as const;
