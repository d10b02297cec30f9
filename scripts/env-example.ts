import { writeFileSync } from 'node:fs';
import { renderEnvExample } from '../src/core/env-spec.ts';

/** Writes `.env.example` from the table in `src/core/env-spec.ts`. */
writeFileSync(new URL('../.env.example', import.meta.url), renderEnvExample());
