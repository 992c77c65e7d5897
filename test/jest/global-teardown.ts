import { cleanUp } from './global-setup.ts';

/** Ends the servers and removes the files of the run. */
export default cleanUp;
