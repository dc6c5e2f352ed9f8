import { conflict, declareErrors, notFound } from '../../../kernel/errors.js';

const ERRORS = declareErrors({
  CHANGE_WEBHOOK_NOT_FOUND: notFound('change webhook'),
  CHANGE_WEBHOOK_NAME_TAKEN: conflict('The project already has a change webhook with this name. Choose another name.'),
  CHANGE_WEBHOOKS_FULL: conflict('The project has reached the limit of 20 change webhooks. Delete one first.'),
  AUDIT_SINK_NOT_FOUND: notFound('audit sink'),
  AUDIT_SINK_NAME_TAKEN: conflict('The organization already has an audit sink with this name. Choose another name.'),
  AUDIT_SINKS_FULL: conflict('The organization has reached the limit of 10 audit sinks. Delete one first.'),
});

declare module '../../../kernel/errors.js' {
  interface ErrorTables {
    readonly outgoingEvents: typeof ERRORS;
  }
}
