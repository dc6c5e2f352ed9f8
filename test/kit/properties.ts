import fc from 'fast-check';
import { propertySeed } from './property-seed.ts';

fc.configureGlobal({ seed: propertySeed });

/** fast-check with the seed of the run, which it prints with the counterexample when a property fails. */
export default fc;
