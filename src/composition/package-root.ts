import { join } from 'node:path';

/** Root of the package, where `prisma/` and `locales/` lie; the same from `src/` and from the bundle in `dist/`. */
export const packageRoot = join(import.meta.dirname, '..', import.meta.dirname.endsWith('composition') ? '..' : '');

export const migrationsFolder = join(packageRoot, 'prisma', 'migrations');
