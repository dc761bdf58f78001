import { endpoints } from '@signalbox/contract';
import type { Api } from '../http/bind.ts';
import { decodeCursor, pageOf } from '../http/paging.ts';
import type { UncertaintyDeps } from './actions.ts';
import { addResolution, createUncertainty, promoteUncertainty } from './actions.ts';
import { getUncertainty, listWholeUncertainties, waitForAnswer } from './read-actions.ts';

export function bindUncertaintyRoutes(api: Api, deps: UncertaintyDeps): void {
  bindAskers(api, deps);
  bindAnswerers(api, deps);
}

/** What agents and their tools do: ask, and wait for the answer. */
function bindAskers(api: Api, deps: UncertaintyDeps): void {
  const { uncertainties } = endpoints;
  api.bind(uncertainties.createWithAutoPromotion, (input, { principal }) =>
    createUncertainty(deps, principal, input),
  );
  api.bind(uncertainties.wait, async (input, context) => ({
    uncertainty: await waitForAnswer(deps, context, input),
  }));
}

/** What people do: look into the inbox, and answer. The console has all of it, too. */
function bindAnswerers(api: Api, deps: UncertaintyDeps): void {
  const { uncertainties } = endpoints;
  api.bind(uncertainties.get, async (input, context) => ({
    uncertainty: await getUncertainty(deps, context, input),
  }));
  api.bind(uncertainties.list, async (input) => {
    const before = decodeCursor(input.cursor, 'uncertainty');
    const rows = await listWholeUncertainties(deps, input, before);
    const page = pageOf(rows, input.limit, (uncertainty) => uncertainty.uncertaintyId);
    return { uncertainties: page.items, nextCursor: page.nextCursor };
  });
  api.bind(uncertainties.promote, (input, { principal }) =>
    promoteUncertainty(deps, principal, input),
  );
  api.bind(uncertainties.addResolution, (input, { principal }) =>
    addResolution(deps, principal, input),
  );
}
