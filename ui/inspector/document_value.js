/**
 * The run document of a file as the inspector's value. A prompt without labels, as earlier files have it, is one box.
 */

/** @import { RunDocument, StepEntry } from '../../decoding/run/run_document' */
/** @import { InspectorValue } from './inspector_contract' */

const WHOLE_PROMPT = -1; // the id of a prompt whose tokens have no labels: one box with its text

/** @param {RunDocument} run @param {string} name @returns {InspectorValue} */
export function inspectorValue(run, name) {
  const { steps, prompt } = run;
  const labels = { ...run.labels };
  const texts = [...(run.source ?? []), ...prompt.ids, ...run.ids];
  let unexplained = texts.slice(0, texts.length - steps.length);
  let source = run.source?.length ?? 0;
  if (!unexplained.length || unexplained.some((id) => !(id in labels))) {
    unexplained = [WHOLE_PROMPT];
    labels[WHOLE_PROMPT] = prompt.text;
    source = 0;
  }
  const first = unexplained.length;
  const ids = [...unexplained, ...steps.map(({ id }) => id)];
  const written = ids.length - run.ids.length; // number of the first token that the model wrote
  const special = new Set(run.special);
  return {
    run: name,
    mode: 'file',
    ids,
    kinds: ids.map((id, at) => {
      if (special.has(id)) return 'control';
      return at < first || steps[at - first].origin === 'given' ? 'prompt' : 'generated';
    }),
    probabilities: [...unexplained.map(() => null), ...steps.map(probabilityOf)],
    labels,
    source,
    first,
    steps,
    layers: run.attention?.layers ?? 0,
    heads: run.attention?.heads ?? 0,
    rows: run.attention?.rows ?? [],
    rows_from: first - 1,
    settings: run.settings,
    settings_from: written,
    search: run.search ? { first: written, since: 0, steps: run.search } : null,
    selected: null,
    busy: false,
  };
}

/** The model's own probability of the token that a step chose. @param {StepEntry} step */
const probabilityOf = ({ id, candidates }) => candidates.find((candidate) => candidate.id === id).probabilities[0];
