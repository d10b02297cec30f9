import { writeFileSync } from 'node:fs';
import { renderEnvExample } from '../src/core/env-example.ts';

/** Writes `.env.example` from the table in `src/core/env-example.ts`. */
writeFileSync(new URL('../.env.example', import.meta.url), renderEnvExample());
