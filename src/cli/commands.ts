import {
  createAdminCommand,
  createTokenCommand,
  listTokensCommand,
  resetSecondFactorCommand,
  revokeTokenCommand,
  rotateTokenCommand,
} from './access-commands.ts';
import { listApprovalsCommand, refuseApprovalCommand } from './approval-commands.ts';
import { auditVerifyCommand } from './audit-command.ts';
import {
  checkArchiveCommand,
  createBackupCommand,
  drillCommand,
  listBackupsCommand,
  restoreBackupCommand,
} from './backup-commands.ts';
import { listCasesCommand, resolveCaseCommand, showCaseCommand } from './case-commands.ts';
import type { Command } from './command.ts';
import { doctorCommand } from './doctor/doctor-command.ts';
import { importEnvCommand, importVerifyCommand } from './import-commands.ts';
import { importLeftoversCommand, importUnparkCommand } from './import-leftovers-command.ts';
import { importReportCommand } from './import-report.ts';
import { importCheckPanelCommand, importExportCommand } from './import-review-commands.ts';
import { importCheckCommand, importDeltaCommand, importRunCommand } from './import-run-commands.ts';
import { ledgerCheckCommand, ledgerReportCommand } from './ledger-commands.ts';
import { setWebhookCommand } from './messenger-command.ts';
import { migrateCommand } from './migrate-command.ts';
import {
  exportWithdrawalsCommand,
  listDebtsCommand,
  refundCommand,
  refundGiftCommand,
  resendGiftCommand,
} from './money-commands.ts';
import { moveCommand } from './move/move-command.ts';
import { exportPartitionCommand, listPartitionsCommand } from './partition-commands.ts';
import { personEraseCommand, personExportCommand } from './person-commands.ts';
import { reconcileCommand } from './reconcile-command.ts';
import { reportCommand } from './report-command.ts';
import { sandboxFillCommand } from './sandbox-commands.ts';

/** Every command, in the order of the help. */
export const commands: readonly Command[] = [
  doctorCommand,
  createAdminCommand,
  resetSecondFactorCommand,
  createTokenCommand,
  listTokensCommand,
  rotateTokenCommand,
  revokeTokenCommand,
  listCasesCommand,
  showCaseCommand,
  resolveCaseCommand,
  personExportCommand,
  personEraseCommand,
  migrateCommand,
  ledgerCheckCommand,
  ledgerReportCommand,
  auditVerifyCommand,
  refundCommand,
  listApprovalsCommand,
  refuseApprovalCommand,
  reconcileCommand,
  refundGiftCommand,
  resendGiftCommand,
  exportWithdrawalsCommand,
  listDebtsCommand,
  reportCommand,
  createBackupCommand,
  listBackupsCommand,
  checkArchiveCommand,
  restoreBackupCommand,
  drillCommand,
  moveCommand,
  listPartitionsCommand,
  exportPartitionCommand,
  sandboxFillCommand,
  setWebhookCommand,
  importCheckCommand,
  importRunCommand,
  importDeltaCommand,
  importVerifyCommand,
  importEnvCommand,
  importReportCommand,
  importCheckPanelCommand,
  importLeftoversCommand,
  importUnparkCommand,
  importExportCommand,
];
