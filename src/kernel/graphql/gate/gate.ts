import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import { type DocumentNode, GraphQLError, type ValueNode, valueFromASTUntyped, visit } from 'graphql';
import { AppError, type ErrorDetail } from '../../errors.js';
import { runAndYield } from '../../event-loop.js';
import { isNameable } from '../../suggestions.js';
import { unstorableIn, type ValueAtPath } from '../../unstorable.js';
import { refuseViolations } from '../../validation.js';
import { malformedGraphQL } from '../errors/coded-errors.js';
import { variablePlaces } from '../variables/variable-violations.js';
import {
  type AnalysedDocument,
  type Analysis,
  analyse,
  analyseDocument,
  analysedDocuments,
  hashOf,
  refuseExcess,
} from './analyse.js';
import type { CostModel } from './cost.js';
import type { QueryLimits, Shares } from './limits.js';
import type { OperationChoice } from './measure.js';
import type { PersistedDocument, PersistedDocuments } from './persisted-documents.js';
import { needsToken } from './root-fields.js';

/** What the gate analyses by. */
interface GateRules {
  readonly model: CostModel;
  readonly limits: QueryLimits;
  readonly trustedLimits: QueryLimits;
  /** Nothing else runs than what is registered. */
  readonly isPersistedOnly: boolean;
}

/** What is looked at of the parameters of a GraphQL request; null is as good as none. */
interface RequestParameters extends OperationChoice {
  readonly query?: string | null | undefined;
  readonly documentId?: string | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What to run. */
interface Admitted {
  readonly query: string;
  readonly document: DocumentNode | null;
  /** So many objects its response may have. */
  readonly maxObjects: number;
}

/**
 * Checks documents before GraphQL runs them. A document that exceeds the limits is refused before validation, because validating
 * even a small document can take seconds. `documentId` selects a registered document, which was parsed and validated before.
 *
 * Parsed documents within the limits are cached by their text, so that they are not parsed or measured again; Apollo Server
 * reads them from `documentStore`. Source: GraphQL over HTTP, appendix A.
 */
export class Gate {
  readonly #analysed = analysedDocuments();

  constructor(
    private readonly rules: GateRules,
    private readonly persisted: PersistedDocuments,
  ) {}

  /** Apollo Server's store of documents by the hash of their text: what is in it is neither parsed nor validated again. */
  readonly documentStore: NonNullable<ApolloServerOptions<BaseContext>['documentStore']> = {
    get: async (key) => {
      const found = this.#known(hashIn(key));
      return found?.isValid === true ? found.document : undefined;
    },
    set: async (key, document) => {
      const hash = hashIn(key);
      const found = this.#analysed.get(hash);
      if (found !== undefined) this.#analysed.set(hash, { ...found, document, isValid: true });
    },
    delete: async () => undefined,
  };

  /**
   * Lets a request pass, or refuses it.
   *
   * @param hasToken whether the request has a valid token
   * @returns the parameters with the text to run: that of the registered document, if an ID was sent; and its document, if it is
   *   known to fit the schema
   * @throws TOKEN_MISSING, MALFORMED_REQUEST without a text, or with a text and an id, QUERY_TOO_COMPLEX with every limit that is exceeded,
   *   PERSISTED_QUERY_NOT_SUPPORTED for a hash in place of a text, PERSISTED_DOCUMENT_NOT_FOUND, PERSISTED_DOCUMENTS_ONLY,
   *   VALIDATION_FAILED for text that cannot be stored
   */
  async admit<P extends RequestParameters>(asked: P, hasToken: boolean): Promise<P & Admitted> {
    const query = await this.#textOf(asked);
    const analysis = this.#analyse(query, asked);
    if (analysis !== null) refuseExcess(analysis);
    // Before anything reads the variables: what is wrong with them is no matter to somebody without a token.
    const document = analysis?.document ?? null;
    if (!hasToken && document !== null && needsToken(this.rules.model.schema, document, asked.operationName))
      throw new AppError('TOKEN_MISSING');
    const unstorable =
      document === null ? [] : await runAndYield(() => unstorableArguments(document, { ...asked, query }));
    refuseViolations(unstorable);
    const { objects: maxObjects } = this.#limitsOf(hashOf(query));
    return { ...asked, query, document: analysis?.isValid === true ? document : null, maxObjects };
  }

  /**
   * What a request asks for of what is allowed, for one that says `extensions: { cost: true }`; null for others, and for
   * what is not GraphQL.
   *
   * @param asked as `admit` takes it, or as it answers it
   * @param objects of the response so far
   */
  async report(asked: RequestParameters, objects: number): Promise<Shares | null> {
    if (asked.extensions?.cost !== true) return null;
    const query = await this.#textOf(asked).catch(() => null);
    const shares = query === null ? undefined : this.#analyse(query, asked)?.shares;
    if (query === null || shares === undefined) return null;
    return { ...shares, objects: { asked: objects, allowed: this.#limitsOf(hashOf(query)).objects } };
  }

  async #textOf({ query, documentId, extensions }: RequestParameters): Promise<string> {
    if (documentId == null) {
      // The client sends the text next, and no hash any more.
      if (!query)
        throw isHash(extensions?.persistedQuery) ? new AppError('PERSISTED_QUERY_NOT_SUPPORTED') : malformedGraphQL();
      if (this.rules.isPersistedOnly && (await this.persisted.find(`sha256:${hashOf(query)}`)) === undefined)
        throw new AppError('PERSISTED_DOCUMENTS_ONLY');
      return query;
    }
    if (query != null) throw new AppError('MALFORMED_REQUEST', 'Send either `query` or `documentId`, as a string.');
    const found = await this.persisted.find(documentId);
    if (found === undefined) throw new AppError('PERSISTED_DOCUMENT_NOT_FOUND');
    return found.text;
  }

  /** Null for a text that cannot be parsed; Apollo Server reports where. */
  #analyse(text: string, picked: OperationChoice): (Analysis & Pick<AnalysedDocument, 'isValid'>) | null {
    const { model, limits } = this.rules;
    const hash = hashOf(text);
    const known = this.#known(hash);
    if (known !== undefined)
      return known.dependsOnRequest
        ? { ...analyseDocument(known, picked, this.#limitsOf(hash), model), isValid: known.isValid }
        : known;
    try {
      const analysis = analyse(text, picked, limits, model);
      const { document } = analysis;
      if (document !== null && isWithin(analysis)) this.#analysed.set(hash, { ...analysis, document, isValid: false });
      return { ...analysis, isValid: false };
    } catch (error) {
      if (error instanceof GraphQLError) return null;
      throw error;
    }
  }

  #known(hash: string): PersistedDocument | AnalysedDocument | undefined {
    return this.persisted.withHash(hash) ?? this.#analysed.get(hash);
  }

  #limitsOf(hash: string): QueryLimits {
    return this.persisted.withHash(hash) === undefined ? this.rules.limits : this.rules.trustedLimits;
  }
}

/** What a client with automatic persisted queries sends before it sends the text. */
const isHash = (persistedQuery: unknown): boolean => typeof persistedQuery === 'object' && persistedQuery !== null;

/** Apollo Server puts the hash of the schema before that of the text. */
const hashIn = (key: string): string => key.slice(-64);

const isWithin = ({ shares }: Analysis): boolean =>
  Object.values(shares).every(({ asked, allowed }) => asked <= allowed);

/** What is given to a document. */
interface DocumentWithVariables {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** A string of a document has NUL only if its text has one, or an escape; and graphql-js refuses halves of surrogate pairs. */
const MAY_HAVE_NUL = /\\u|\0/;

/** Where variables and literals of a request have text that Postgres cannot store. Paths begin with arguments, as those of all violations. */
function unstorableArguments(document: DocumentNode, { query, variables }: DocumentWithVariables): ErrorDetail[] {
  const given = Object.entries(variables ?? {});
  const isOfVariables = unstorableIn([['variables', variables]]).length > 0;
  const isOfText = MAY_HAVE_NUL.test(query);
  if (!isOfVariables && !isOfText) return [];
  const places = variablePlaces(document);
  const placed = given.flatMap(([name, value]): ValueAtPath[] => {
    const place = places.get(name);
    return place === undefined ? [] : [[place, value]];
  });
  const others = Object.fromEntries(given.filter(([name]) => !places.has(name)));
  return unstorableIn([...placed, ['variables', others], ...(isOfText ? literals(document, places) : [])]);
}

/** What a document gives to arguments, and to variables that are not sent. */
function literals(document: DocumentNode, places: ReadonlyMap<string, string>): ValueAtPath[] {
  const found: ValueAtPath[] = [];
  const note = (path: string, value: ValueNode): void => {
    found.push([path, valueFromASTUntyped(value)]);
  };
  visit(document, {
    // The name may be any, since the document is not validated yet.
    Argument: ({ name, value }) => note(isNameable(name.value) ? name.value : 'query', value),
    VariableDefinition: ({ variable, defaultValue }) => {
      if (defaultValue !== undefined) note(places.get(variable.name.value) ?? 'variables', defaultValue);
    },
  });
  return found;
}
