import type { z } from 'zod';

/** The rules behind `optional`, `nullable`, defaults and transformations: those of the value that a caller sends. */
export function bareRules(rules: z.core.$ZodType): z.core.$ZodType {
  switch ((rules as z.ZodType)._zod.def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
      return bareRules((rules as z.ZodOptional).unwrap());
    case 'pipe':
      return bareRules((rules as z.ZodPipe).in);
    default:
      return rules;
  }
}
