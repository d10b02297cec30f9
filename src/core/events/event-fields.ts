/** Fields that events share, with one meaning each. */
import { z } from 'zod';

export const UserIdField = z.int().describe('Id of the user.');
export const TimestampField = z.string().describe('ISO 8601 in UTC.');
const amount = {
  amount_kopeks: z.int().describe('Amount in kopeks; negative for a charge where the event says so.'),
  amount_rubles: z.number().describe('The same in rubles.'),
};
const newBalance = {
  new_balance_kopeks: z.int().describe('Balance after the change, in kopeks.'),
  new_balance_rubles: z.number().describe('The same in rubles.'),
};
export const AmountFields = z.object(amount);
export const AmountAndBalanceFields = z.object({ ...amount, ...newBalance });
export const AMOUNT_EXAMPLE = { amount_kopeks: 50_000, amount_rubles: 500 };
export const AMOUNT_AND_BALANCE_EXAMPLE = { ...AMOUNT_EXAMPLE, new_balance_kopeks: 75_000, new_balance_rubles: 750 };
export const NoFields = z.object({});
