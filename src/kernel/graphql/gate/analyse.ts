import { createHash } from 'node:crypto';
import { type DocumentNode, Lexer, parse, Source, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { DetailCode } from '../../detail-codes.js';
import { AppError, type ErrorDetail } from '../../errors.js';
import type { CostModel } from './cost.js';
import { allowedNesting, type LimitName, type QueryLimits, type Share, type Shares } from './limits.js';
import { measureDocument, type OperationChoice } from './measure.js';

/** What a text asks for, of what is allowed. */
export interface Analysis {
  /** Every limit as far as the text was looked at: only those of the text when it exceeds one of them. */
  readonly shares: Shares;
  /** Null: the text was not worth parsing. */
  readonly document: DocumentNode | null;
  /** It holds for the request that it was made for: its variables, or the operation that it picks. */
  readonly dependsOnRequest: boolean;
}

/**
 * Analyses a text by the limits.
 *
 * @throws GraphQLError for a text that is not GraphQL
 */
export function analyse(text: string, picked: OperationChoice, limits: QueryLimits, model: CostModel): Analysis {
  const shares = measureText(text, limits);
  if (excessOf(shares).length > 0) return { shares, document: null, dependsOnRequest: false };
  const document = parse(text, { maxTokens: limits.tokens });
  return analyseDocument({ shares, document }, picked, limits, model);
}

/** Analyses a parsed document for a request: with its variables, and the operation that it picks. */
export function analyseDocument(
  { shares, document }: Pick<Analysis, 'shares'> & { readonly document: DocumentNode },
  picked: OperationChoice,
  limits: QueryLimits,
  model: CostModel,
): Analysis {
  const { dependsOnRequest, ...measure } = measureDocument(document, picked, model, limits.selections);
  const measured = Object.entries(measure).map(([name, asked]) => [
    name,
    { asked, allowed: limits[name as keyof typeof measure] },
  ]);
  return { shares: { ...shares, ...Object.fromEntries(measured) }, document, dependsOnRequest };
}

/** The code of each limit in `details`, and what its numbers count. */
const LIMITS: Readonly<Record<LimitName, { readonly code: DetailCode; readonly counted: string }>> = {
  text: { code: 'TEXT_LIMIT', counted: 'Document size in bytes' },
  tokens: { code: 'TOKENS_LIMIT', counted: 'Token count' },
  nesting: { code: 'NESTING_LIMIT', counted: 'Bracket nesting depth' },
  depth: { code: 'DEPTH_LIMIT', counted: 'Depth' },
  selections: { code: 'SELECTIONS_LIMIT', counted: 'Selection count (fragments expanded)' },
  cost: { code: 'COST_LIMIT', counted: 'Estimated cost' },
  objects: { code: 'OBJECTS_LIMIT', counted: 'Object count' },
  aliases: { code: 'ALIASES_LIMIT', counted: 'Alias count' },
  directives: { code: 'DIRECTIVES_LIMIT', counted: 'Directive count' },
  fragments: { code: 'FRAGMENTS_LIMIT', counted: 'Fragment count' },
  operations: { code: 'OPERATIONS_LIMIT', counted: 'Operation count' },
  branches: { code: 'BRANCHES_LIMIT', counted: 'Count of fields with subfields merged into one response field' },
  leaves: { code: 'LEAVES_LIMIT', counted: 'Count of fields without subfields merged into one response field' },
  introspectionDepth: { code: 'INTROSPECTION_DEPTH_LIMIT', counted: 'Introspection depth' },
  introspectionCost: { code: 'INTROSPECTION_COST_LIMIT', counted: 'Estimated introspection cost' },
};
/** Counting stops where these are exceeded. */
const COUNTED_SO_FAR: ReadonlySet<LimitName> = new Set(['tokens', 'nesting']);

/** Every limit that is exceeded, as details of an error: the limit and two numbers, nothing of the text. */
export const excessOf = (shares: Shares): ErrorDetail[] =>
  (Object.entries(shares) as [LimitName, Share][])
    .filter(([, { asked, allowed }]) => asked > allowed)
    .map(([name, { asked, allowed }]) => ({
      path: 'query',
      code: LIMITS[name].code,
      message: `${LIMITS[name].counted} ${COUNTED_SO_FAR.has(name) ? 'of at least ' : ''}${asked} exceeds the limit of ${allowed}`,
    }));

/** @throws QUERY_TOO_COMPLEX with every limit that is exceeded */
export function refuseExcess({ shares }: Analysis): void {
  const details = excessOf(shares);
  if (details.length > 0) throw new AppError('QUERY_TOO_COMPLEX', undefined, { details });
}

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * Measures a text before it is parsed: bytes, tokens, and brackets inside one another. Stops at the first limit that is
 * exceeded, with as much as was seen until then.
 *
 * @throws GraphQLError for a text that has other characters than GraphQL
 */
function measureText(text: string, limits: QueryLimits): Shares {
  const bytes = { text: { asked: Buffer.byteLength(text), allowed: limits.text } };
  if (bytes.text.asked > limits.text) return bytes;
  const lexer = new Lexer(new Source(text));
  const allowed = allowedNesting(limits);
  let tokens = 0;
  let open = 0;
  let deepest = 0;
  for (let { kind } = lexer.advance(); kind !== TokenKind.EOF; kind = lexer.advance().kind) {
    tokens += 1;
    if (OPENING.has(kind)) open += 1;
    else if (CLOSING.has(kind)) open -= 1;
    deepest = Math.max(deepest, open);
    if (tokens > limits.tokens || deepest > allowed) break;
  }
  return { ...bytes, tokens: { asked: tokens, allowed: limits.tokens }, nesting: { asked: deepest, allowed } };
}

/** Of all documents together, as estimated. */
const MAX_BYTES = 16 * 1024 * 1024;
/** What a parsed token takes with its nodes and places, roughly. */
const BYTES_OF_TOKEN = 400;
const OVERHEAD_BYTES = 1_024;

/** What is known of a text that may run. */
export interface AnalysedDocument extends Analysis {
  readonly document: DocumentNode;
  /** It fits the schema. */
  isValid: boolean;
}

/** SHA-256 of a text, in lower-case hexadecimal digits: what names a document here, at Apollo, and in ids of clients. */
export const hashOf = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Documents of callers that were within the limits, by hash: the latest used ones, bounded by bytes. */
export const analysedDocuments = (): LRUCache<string, AnalysedDocument> =>
  new LRUCache({ maxSize: MAX_BYTES, sizeCalculation: sizeOf });

const sizeOf = ({ shares: { text, tokens } }: AnalysedDocument): number =>
  OVERHEAD_BYTES + 2 * (text?.asked ?? 0) + BYTES_OF_TOKEN * (tokens?.asked ?? 0);
