import type { ErrorCode } from '../../../src/kernel/errors.js';
import { again, type ErrorCase, unknown } from './scene.js';

const ONE = '/api/v1/re-encryptions/{reencryptionId}';

/** Of re-encryptions of projects. */
export const PROJECT_REENCRYPTIONS: Partial<Record<ErrorCode, ErrorCase>> = {
  REENCRYPTION_NOT_FOUND: unknown('reencryption', `GET ${ONE}`, 'projectReencryption'),
  REENCRYPTION_RUNNING: {
    rest: again('POST /api/v1/projects/{projectId}/re-encryptions'),
    graphql: again('startProjectReencryption'),
  },
  REENCRYPTION_ENDED: { rest: again(`POST ${ONE}/cancel`), graphql: again('cancelProjectReencryption') },
};
