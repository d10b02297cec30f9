import { afterAll, aroundEach } from 'vitest';
import { endProcesses, runAbandonable } from './abandoned-tests.ts';

aroundEach((runTest, { signal }) => runAbandonable(signal, runTest));

afterAll(endProcesses);
