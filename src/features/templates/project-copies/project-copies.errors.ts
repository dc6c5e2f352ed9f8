import { declareDetailCodes } from '../../../kernel/detail-codes.js';

/** Messages of the codes in `details` about parts of a project. */
const DETAILS = declareDetailCodes({
  NEEDS_PART: 'The part can be copied only with another part, which the message names.',
});

declare module '../../../kernel/detail-codes.js' {
  interface DetailCodes {
    readonly projectCopies: keyof typeof DETAILS;
  }
}
