import { Lexer, Source, TokenKind } from 'graphql';
import { allowedNesting, type QueryLimits, type Shares } from './limits.js';

const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/**
 * Measures a text before it is parsed: bytes, tokens, and brackets inside one another. Stops at the first limit that is
 * exceeded, with as much as was seen until then.
 *
 * @throws GraphQLError for a text that has other characters than GraphQL
 */
export function measureText(text: string, limits: QueryLimits): Shares {
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
