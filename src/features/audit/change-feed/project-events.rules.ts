import * as z from 'zod';
import { compileGlob, MAX_GLOB } from '../../../kernel/authz/glob.js';
import { idOf } from '../../../kernel/value-rules.js';
import type { Location } from './change-reading.js';

/** Events of secrets, as clients of older paths name them. */
const PROJECT_EVENTS = ['secret:create', 'secret:update', 'secret:delete', 'secret:import-mutation'] as const;

export type ProjectEvent = (typeof PROJECT_EVENTS)[number];

const conditions = z.strictObject({
  environmentSlug: z.string().max(255).nullish(),
  secretPath: z.string().max(MAX_GLOB).nullish(),
});

/** Body of the subscription to events of a project. Without `register`: all events. */
export const SubscribeProjectEvents = z.strictObject({
  projectId: idOf('project'),
  register: z
    .array(z.strictObject({ event: z.enum(PROJECT_EVENTS), conditions: conditions.nullish() }))
    .min(1)
    .max(100)
    .nullish(),
});

/** Whether a client has registered for an event at a location. */
export type IsRegistered = (event: ProjectEvent, location: Location) => boolean;

/** Compiles registrations. A path stands for itself and everything below it, or for what matches it as a pattern. */
export function registrations({ register }: z.output<typeof SubscribeProjectEvents>): IsRegistered {
  if (register == null) return () => true;
  const tests = register.map(({ event, conditions }) => {
    const { environmentSlug, secretPath } = conditions ?? {};
    return { event, environmentSlug, isAt: pathTest(secretPath ?? '/') };
  });
  return (sent, { environment, path }) =>
    tests.some(
      ({ event, environmentSlug, isAt }) =>
        event === sent && (environmentSlug == null || environmentSlug === environment) && isAt(path ?? '/'),
    );
}

function pathTest(given: string): (path: string) => boolean {
  const pattern = given.length > 1 ? given.replace(/\/$/, '') : given;
  if (/[*?{[\\]/.test(pattern)) {
    const test = compileGlob(pattern);
    return typeof test === 'string' ? () => false : test;
  }
  return (path) => pattern === '/' || path === pattern || path.startsWith(`${pattern}/`);
}
