import { orderApiCase } from './order-api-case.ts';

/** Kassa.ai (03a section 11). */
export const kassaAiCase = orderApiCase({
  method: 'kassa_ai',
  path: '/kassa-ai-webhook',
  F11: { notApplicable: 'the provider publishes no addresses' },
  credentials: (secret) => ({ KASSA_AI_SHOP_ID: '7012', KASSA_AI_API_KEY: secret, KASSA_AI_SECRET_WORD_2: secret }),
  vectors: { shopId: '33', word2: 'kw-two' },
});
