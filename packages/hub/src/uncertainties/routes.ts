import { consoleEndpoints, endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, readPage } from '../http/paging.ts';
import type { HubDeps } from '../start/hub-deps.ts';
import { createUncertainty } from './create.ts';
import { listInbox } from './inbox.ts';
import { promoteUncertainty } from './promote.ts';
import { countByStatus, getUncertainty, listPage } from './read.ts';
import { addResolution } from './resolve.ts';
import { resolveAlike } from './resolve-alike.ts';
import { createRule, listDecisionRules, previewRule, revokeRule } from './rules.ts';
import { askForSession, waitForSession, withdrawOfSession } from './session-questions.ts';
import { takeAnswer } from './take-answer.ts';
import { waitForAnswer } from './wait.ts';
import { withdrawResolution } from './withdraw.ts';

export function bindUncertaintyRoutes(api: Api, deps: HubDeps): void {
  bindAskers(api, deps);
  bindAnswerers(api, deps);
  bindRules(api, deps);
  bindSessions(api, deps);
}

/** The calls of agents and their tools: ask, and wait for the answer. */
function bindAskers(api: Api, deps: HubDeps): void {
  const { uncertainties } = endpoints;
  api.bind(uncertainties.createWithAutoPromotion, (input, { principal }) =>
    createUncertainty(deps, principal, input),
  );
  api.bind(uncertainties.wait, async (input, context) => ({
    uncertainty: await waitForAnswer(deps, context, input),
  }));
  api.bind(uncertainties.takeAnswer, (input, { principal }) => takeAnswer(deps, principal, input));
}

/** The calls of people: read the inbox, and answer. The console has them too. */
function bindAnswerers(api: Api, deps: HubDeps): void {
  const { uncertainties } = endpoints;
  api.bind(uncertainties.get, (input, context) => getUncertainty(deps, context, input));
  api.bind(uncertainties.list, async (input, { principal }) => {
    const before = decodeCursor(input.cursor, 'uncertainty');
    const page = await readPage(
      { limit: input.limit, before },
      (piece) => listPage(deps, principal, input, piece),
      (uncertainty) => uncertainty.uncertaintyId,
    );
    return { uncertainties: page.items, nextCursor: page.nextCursor };
  });
  api.bind(uncertainties.inbox, (input, { principal }) => listInbox(deps, principal, input));
  api.bind(uncertainties.counts, (input, { principal }) => countByStatus(deps, principal, input));
  api.bind(uncertainties.promote, (input, { principal }) =>
    promoteUncertainty(deps, principal, input),
  );
  api.bind(uncertainties.addResolution, (input, { principal }) =>
    addResolution(deps, principal, input),
  );
  api.bind(uncertainties.resolveAlike, (input, { principal }) =>
    resolveAlike(deps, principal, input),
  );
  api.bind(uncertainties.withdrawResolution, async (input, { principal }) => ({
    uncertainty: await withdrawResolution(deps, principal, input),
  }));
}

/** The calls of the hooks of people's own coding tools. */
function bindSessions(api: Api, deps: HubDeps): void {
  const { sessionQuestions } = endpoints;
  api.bind(sessionQuestions.ask, (input, { principal }) => askForSession(deps, principal, input));
  api.bind(sessionQuestions.wait, async (input, context) => ({
    uncertainty: await waitForSession(deps, context, input),
  }));
  api.bind(sessionQuestions.withdraw, async (input, { principal }) => ({
    uncertainty: await withdrawOfSession(deps, principal, input),
  }));
}

/** The calls of people at the console about rules that answer for them. */
function bindRules(api: Api, deps: HubDeps): void {
  const { decisionRules } = consoleEndpoints;
  api.bind(decisionRules.list, async ({ workspaceId }, { principal }) => ({
    rules: await listDecisionRules(deps, principal, workspaceId),
  }));
  api.bind(decisionRules.preview, (input, { principal }) => previewRule(deps, principal, input));
  api.bind(decisionRules.create, async (input, { principal }) => ({
    rule: await createRule(deps, principal, input),
  }));
  api.bind(decisionRules.revoke, async (input, { principal }) => ({
    rule: await revokeRule(deps, principal, input),
  }));
}
