import { refusal } from '../../core/errors.ts';
import {
  createFaqPage,
  deleteFaqPage,
  deleteRules,
  documentDisabled,
  documentNotFound,
  type FaqList,
  faqPageNotInLanguage,
  listFaqPages,
  listRulesHistory,
  readDocument,
  readFaqPage,
  readFaqStatus,
  readRules,
  reorderFaqPages,
  restoreRules,
  rulesVersionNotFound,
  serviceRulesNotFound,
  updateFaqPage,
  writeDocument,
  writeFaqStatus,
  writeRules,
} from '../../domain/content/pages/manage-pages.ts';
import { pageNotFound } from '../../domain/content/pages/rules.ts';
import { splitContent } from '../../domain/content/pages/split-content.ts';
import type { DocumentKind, FaqPage, LegalDocument } from '../../domain/content/pages/types.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  FaqListQuery,
  FaqPageCreateRequest,
  FaqPageListResponse,
  FaqPagePath,
  FaqPageQuery,
  FaqPageResponse,
  FaqPageUpdateRequest,
  FaqReorderRequest,
  FaqStatusInput,
  FaqStatusQuery,
  FaqStatusResponse,
  RichTextPageResponse,
  RichTextPageUpdateRequest,
  RichTextQuery,
  RulesHistoryQuery,
  RulesLanguageQuery,
  RulesQuery,
  RulesVersionPath,
  ServiceRulesHistoryResponse,
  ServiceRulesResponse,
  ServiceRulesUpdateRequest,
} from './pages.schemas.ts';

const faqStatusRequired = refusal('faq_status_required', 400, "Parameter 'is_enabled' is required");

const tags: [string] = ['pages'];
const onePage = '/pages/faq/{page_id}';

/** Reading and writing one of the two documents. */
function documentProcedures(kind: DocumentKind, path: `/${string}`, name: string) {
  return {
    get: webProcedure
      .meta({
        openapi: { method: 'GET', path, tags, summary: `Read the ${name}` },
        description: `Returns the stored ${name} of a language, as it was written. With \`fallback\` the one of \`DEFAULT_LANGUAGE\` where the language has none.`,
        refuses: [documentDisabled, documentNotFound],
      })
      .input(fromWire(RichTextQuery))
      .output(toWire(RichTextPageResponse))
      .query(async ({ ctx, input }) => toDocument(await readDocument(ctx.app, kind, input))),

    update: auditedWebProcedure('pages:edit')
      .meta({
        openapi: { method: 'PUT', path, tags, summary: `Write the ${name}` },
        description: `Writes the ${name} of one language. It is shown on every instance within a second. Repeating the call changes nothing but \`updated_at\`.`,
      })
      .input(fromWire(RichTextPageUpdateRequest))
      .output(toWire(RichTextPageResponse))
      .mutation(async ({ ctx, input }) => toDocument(await writeDocument(ctx.app, kind, input))),
  };
}

function toDocument({ requestedLanguage, document }: { requestedLanguage: string; document: LegalDocument }) {
  // Only the offer is cut between tags (spec 05 section 5.1).
  const contentPages = splitContent(document.content, document.kind === 'public_offer');
  return { requestedLanguage, ...document, contentPages };
}

const toPage = (page: FaqPage) => ({ ...page, contentPages: splitContent(page.content, false) });

const toList = ({ pages, ...list }: FaqList) => ({ ...list, total: pages.length, items: pages.map(toPage) });

const offer = documentProcedures('public_offer', '/pages/public-offer', 'public offer');
const policy = documentProcedures('privacy_policy', '/pages/privacy-policy', 'privacy policy');

export const pagesRouter = router({
  getPublicOffer: offer.get,
  updatePublicOffer: offer.update,
  getPrivacyPolicy: policy.get,
  updatePrivacyPolicy: policy.update,

  listFaq: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/pages/faq', tags, summary: 'Frequent questions of a language' },
      description:
        'Lists the questions of a language in their order, all at once. Where the language has none, with `fallback` those of `DEFAULT_LANGUAGE`. Without `include_inactive` the list is what users see: active questions, and none while they are switched off.',
    })
    .input(fromWire(FaqListQuery))
    .output(toWire(FaqPageListResponse))
    .query(async ({ ctx, input }) => toList(await listFaqPages(ctx.app, input))),

  createFaqPage: auditedWebProcedure('pages:create')
    .meta({
      openapi: { method: 'POST', path: '/pages/faq', tags, summary: 'Add a question' },
      description: 'Adds a question. The first question of a language switches the questions of that language on.',
    })
    .input(fromWire(FaqPageCreateRequest))
    .output(toWire(FaqPageResponse))
    .mutation(async ({ ctx, input }) => toPage(await createFaqPage(ctx.app, input))),

  getFaqStatus: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/pages/faq/status', tags, summary: 'Whether questions are shown' },
      description: 'Returns whether the questions of a language are shown; false where nothing is stored.',
    })
    .input(fromWire(FaqStatusQuery))
    .output(toWire(FaqStatusResponse))
    .query(({ ctx, input }) => readFaqStatus(ctx.app, input)),

  updateFaqStatus: auditedWebProcedure('pages:edit')
    .meta({
      openapi: { method: 'PUT', path: '/pages/faq/status', tags, summary: 'Show or hide questions' },
      description:
        'Shows or hides the questions of a language. A body takes precedence over the query, with its own `language`. Repeating the call changes nothing.',
      refuses: [faqStatusRequired],
      wire: { query: ['language', 'is_enabled'], wholeBodyKey: 'body' },
    })
    .input(fromWire(FaqStatusInput))
    .output(toWire(FaqStatusResponse))
    .mutation(({ ctx, input: { body, ...query } }) => {
      const { language, isEnabled } = body ?? query;
      if (isEnabled == null) throw faqStatusRequired();
      return writeFaqStatus(ctx.app, { language, isEnabled });
    }),

  getFaqPage: webProcedure
    .meta({
      openapi: { method: 'GET', path: onePage, tags, summary: 'Read a question' },
      description: 'Returns a question if it is of this language or of `DEFAULT_LANGUAGE`.',
      refuses: [pageNotFound],
    })
    .input(fromWire(FaqPageQuery))
    .output(toWire(FaqPageResponse))
    .query(async ({ ctx, input: { pageId, ...query } }) => toPage(await readFaqPage(ctx.app, pageId, query))),

  updateFaqPage: auditedWebProcedure('pages:edit')
    .meta({
      openapi: { method: 'PUT', path: onePage, tags, summary: 'Change a question' },
      description: 'Changes the given fields of a question. The language stays as it is.',
      refuses: [pageNotFound],
    })
    .input(fromWire(withBody(FaqPagePath, FaqPageUpdateRequest)))
    .output(toWire(FaqPageResponse))
    .mutation(async ({ ctx, input: { pageId, ...changes } }) => toPage(await updateFaqPage(ctx.app, pageId, changes))),

  deleteFaqPage: auditedWebProcedure('pages:delete')
    .meta({
      openapi: { method: 'DELETE', path: onePage, tags, summary: 'Delete a question' },
      description: 'Deletes a question. The numbers of the others stay as they are.',
      refuses: [pageNotFound],
    })
    .input(fromWire(FaqPagePath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteFaqPage(ctx.app, input.pageId);
      return { success: true as const };
    }),

  reorderFaq: auditedWebProcedure('pages:edit')
    .meta({
      openapi: { method: 'POST', path: '/pages/faq/reorder', tags, summary: 'Change the order of questions' },
      description:
        'Numbers the questions of a language from 1: the named ones in the order of their `display_order`, then the others as they were. Returns all questions of the language. Repeating the call changes nothing.',
      refuses: [faqPageNotInLanguage],
    })
    .input(fromWire(FaqReorderRequest))
    .output(toWire(FaqPageListResponse))
    .mutation(async ({ ctx, input }) => toList(await reorderFaqPages(ctx.app, input))),

  getServiceRules: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/pages/service-rules', tags, summary: 'Read the rules in force' },
      description:
        'Returns the version of the rules that is in force. With `fallback` the one of `DEFAULT_LANGUAGE` where the language has none.',
      refuses: [serviceRulesNotFound],
    })
    .input(fromWire(RulesQuery))
    .output(toWire(ServiceRulesResponse))
    .query(({ ctx, input }) => readRules(ctx.app, input)),

  updateServiceRules: auditedWebProcedure('pages:edit')
    .meta({
      openapi: { method: 'PUT', path: '/pages/service-rules', tags, summary: 'Put a new version of the rules in force' },
      description: 'Puts a new version of the rules in force. The version before it stays in the history.',
    })
    .input(fromWire(ServiceRulesUpdateRequest))
    .output(toWire(ServiceRulesResponse))
    .mutation(({ ctx, input }) => writeRules(ctx.app, input)),

  deleteServiceRules: auditedWebProcedure('pages:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/pages/service-rules', tags, summary: 'Put the rules of a language out of force' },
      description:
        'Puts the rules of a language out of force. The versions stay in the history and can be restored. Repeating the call changes nothing.',
    })
    .input(fromWire(RulesLanguageQuery))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteRules(ctx.app, input.language);
      return { success: true as const };
    }),

  serviceRulesHistory: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/pages/service-rules/history', tags, summary: 'Versions of the rules' },
      description: 'Lists the versions of the rules of a language, newest first, with the one in force.',
    })
    .input(fromWire(RulesHistoryQuery))
    .output(toWire(ServiceRulesHistoryResponse))
    .query(async ({ ctx, input }) => {
      const { language, items } = await listRulesHistory(ctx.app, input);
      return { language, total: items.length, items };
    }),

  restoreServiceRules: auditedWebProcedure('pages:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/pages/service-rules/history/{rule_id}/restore',
        tags,
        summary: 'Put an earlier version of the rules in force again',
      },
      description: 'Adds a copy of an earlier version and puts it in force. The version must be of this language.',
      refuses: [rulesVersionNotFound],
      wire: { query: ['language'] },
    })
    .input(fromWire(RulesVersionPath))
    .output(toWire(ServiceRulesResponse))
    .mutation(({ ctx, input }) => restoreRules(ctx.app, input.ruleId, input.language)),
});
