// openapi-typescript writes its output with the compiler's own printer, which TypeScript 7 does not have any more.
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});
