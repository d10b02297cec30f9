/** The API document of the service with all its texts. */

import { EVENT_CATALOGUE } from '../routers/event-catalogue.ts';
import { type DescriptionGaps, describeDocument } from './describe-document.ts';
import { INTRODUCTION } from './descriptions/introduction.ts';
import { TAG_DESCRIPTIONS } from './descriptions/tag-descriptions.ts';
import { documentEvents } from './document-events.ts';
import { documentRefusals } from './document-refusals.ts';
import { buildOpenApiDocument, type OpenApiDocument } from './openapi-document.ts';
import type { RestRoute } from './route-table.ts';

export const SERVICE_TITLE = 'Subscription Service';
/** Version of the interface, not of the release. */
const INTERFACE_VERSION = '1.0.0';

/** Builds the document, served as `/openapi.json`, and reports what has no description. Store the result. */
export function buildServiceDocument(
  routes: readonly RestRoute[],
  title = SERVICE_TITLE,
): { document: OpenApiDocument; gaps: DescriptionGaps } {
  const document = buildOpenApiDocument(routes, {
    title,
    version: INTERFACE_VERSION,
    description: INTRODUCTION,
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    servers: [{ url: '/', description: 'The service that serves this document' }],
  });
  document.tags.sort((a, b) => a.name.localeCompare(b.name, 'en'));
  documentRefusals(document, routes);
  documentEvents(document, EVENT_CATALOGUE);
  const gaps = describeDocument(document, TAG_DESCRIPTIONS);
  return { document, gaps };
}
