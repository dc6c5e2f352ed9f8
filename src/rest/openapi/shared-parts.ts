import type { JsonSchema } from '../response-schema.js';

/** Responses whose codes differ from operation to operation, by status. */
const NAMES: Readonly<Record<string, string>> = { 404: 'NotFound', 409: 'Conflict', 412: 'PreconditionFailed' };

/** Moves what many operations have in common into `components`: parameters, and error responses with the same codes. */
export class SharedParts {
  readonly parameters: Record<string, JsonSchema> = {};
  readonly responses: Record<string, JsonSchema> = {};
  readonly #names = new Map<string, string>();

  /** The operation, with references in place of what is shared. */
  of(operation: JsonSchema): JsonSchema {
    const parameters = (operation.parameters as JsonSchema[]).map((it) =>
      it.$ref === undefined ? this.#shared('parameters', capital(String(it.name)), it) : it,
    );
    const responses = Object.entries(operation.responses as Record<string, JsonSchema>).map(([status, it]) => [
      status,
      NAMES[status] === undefined ? it : this.#shared('responses', NAMES[status], it),
    ]);
    return { ...operation, parameters, responses: Object.fromEntries(responses) };
  }

  #shared(kind: 'parameters' | 'responses', name: string, part: JsonSchema): JsonSchema {
    const shape = JSON.stringify([kind, part]);
    const known = this.#names.get(shape) ?? this.#free(kind, name);
    this.#names.set(shape, known);
    this[kind][known] = part;
    return { $ref: `#/components/${kind}/${known}` };
  }

  #free(kind: 'parameters' | 'responses', name: string): string {
    const plain = name.replaceAll(/\W/g, '');
    for (let count = 1; ; count += 1) {
      const free = count === 1 ? plain : `${plain}${count}`;
      if (!(free in this[kind])) return free;
    }
  }
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
