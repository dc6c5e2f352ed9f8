import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Reply } from '../caller.js';
import { PATHS, REFERENCE } from '../reference.js';

/** Every code that an error may have. */
const CODES: ReadonlySet<string> = new Set(REFERENCE.components.schemas.Error.properties.code.enum);
/** What may be answered although the request was in order. */
const NAMED_FAILURES: ReadonlySet<string> = new Set([
  'AUDIT_UNAVAILABLE',
  'STORE_UNAVAILABLE',
  'OVERLOADED',
  'SHUTTING_DOWN',
  'SEALED_VALUE_INVALID',
  'DEADLINE_EXCEEDED',
]);

/** The operations of the committed API reference, by `GET /path`. */
export const reference = (method: string, path: string) => PATHS[path][method.toLowerCase()];

const ajv = new Ajv2020({ strict: false, validateSchema: false, allErrors: false, inlineRefs: false });
(formats as unknown as { default?: (it: Ajv2020) => void } & ((it: Ajv2020) => void)).default?.(ajv);
ajv.addSchema({ paths: PATHS }, 'reference');
const validators = new Map<string, ValidateFunction>();

const escaped = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1');

/** What a REST answer has against the API reference; null when it fits. */
export function faultOfRest(method: string, path: string, { status, body, text }: Reply): string | null {
  if (status === 304) return text === '' ? null : '304 with a body';
  if (status >= 500 && !NAMED_FAILURES.has(body?.code)) return `status ${status}, ${body?.code}`;
  const operation = `/paths/${escaped(path)}/${method.toLowerCase()}`;
  const { responses } = reference(method, path);
  const response = responses[status] ?? (status >= 500 || [408, 431].includes(status) ? responses.default : undefined);
  if (response === undefined) return `status ${status} (${body?.code}) is not documented`;
  const at = `${operation}/responses/${responses[status] === undefined ? 'default' : status}`;
  return mismatch(`${at}/content/application~1json/schema`, body);
}

function mismatch(pointer: string, body: unknown): string | null {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `reference#${encodeURI(pointer)}` });
  validators.set(pointer, validate);
  if (validate(body)) return null;
  return `the body does not fit ${pointer}: ${ajv.errorsText(validate.errors)}`;
}

/** What a GraphQL answer has against the rules of every answer; null when it fits. */
export function faultOfGraphQL({ status, body, text }: Reply): string | null {
  if (body === null || typeof body !== 'object') return `no JSON object: ${text.slice(0, 100)}`;
  for (const { message, extensions } of body.errors ?? []) {
    const code = extensions?.code;
    if (typeof message !== 'string' || !CODES.has(code) || typeof extensions.reqId !== 'string')
      return `an uncoded error: ${JSON.stringify(body.errors)}`;
    if (extensions.statusCode >= 500 && !NAMED_FAILURES.has(code)) return `code ${code}`;
  }
  return status >= 500 && body.errors === undefined ? `status ${status} without errors` : null;
}
