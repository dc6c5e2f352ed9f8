export { tellOfRescue } from './happenings.js';
