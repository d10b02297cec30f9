import { defineConfig } from 'prisma/config';

/** Only `prisma generate` runs through the CLI; migrations are applied by our own runner (docs/architecture.md). */
export default defineConfig({ schema: 'prisma' });
