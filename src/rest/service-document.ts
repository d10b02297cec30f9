/** The API document of the service with all its texts. */

import { EVENT_CATALOGUE } from '../routers/event-catalogue.ts';
import { appRouter } from '../routers/root.ts';
import { type DescriptionGaps, describeDocument } from './describe-document.ts';
import { INTRODUCTION } from './descriptions/introduction.ts';
import { TAG_DESCRIPTIONS } from './descriptions/tag-descriptions.ts';
import { documentEvents } from './document-events.ts';
import { documentRefusals } from './document-refusals.ts';
import { buildOpenApiDocument, type OpenApiDocument } from './openapi-document.ts';
import type { RestRoute } from './route-table.ts';
import { SERVICE_TITLE } from './served-document.ts';

/** Version of the interface, not of the release. */
const INTERFACE_VERSION = '1.0.0';

/** Builds the document that is served as `/openapi.json`, with the routes of its operations, and reports what has no description. */
export function buildServiceDocument(): { document: OpenApiDocument; routes: RestRoute[]; gaps: DescriptionGaps } {
  const { document, routes } = buildOpenApiDocument(appRouter, {
    title: SERVICE_TITLE,
    version: INTERFACE_VERSION,
    description: INTRODUCTION,
    license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
  });
  document.servers = [{ url: '/', description: 'The service that serves this document' }];
  document.tags.sort((a, b) => a.name.localeCompare(b.name, 'en'));
  documentRefusals(document, routes);
  documentEvents(document, EVENT_CATALOGUE);
  const gaps = describeDocument(document, TAG_DESCRIPTIONS);
  return { document, routes, gaps };
}
