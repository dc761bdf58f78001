import type { AskOrder, Member } from '@signalbox/contract';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { plainText } from '../../format/text.ts';
import { FormModal } from '../dialog/form-modal.tsx';
import { Button } from '../form/button.tsx';
import { TextField } from '../form/field.tsx';
import { SelectInput } from '../settings/controls.tsx';

/** As the hub has them. */
const PLACES_MAX = 10;
const MINUTES_MAX = 720;
const MINUTES_FIRST = 15;
/** The value of the person who enqueued the job in a list of persons. */
const REQUESTER = 'requester';

interface AskOrderDialogProps {
  askOrder: AskOrder | null;
  members: readonly Member[];
  /** False: the workspace has more members than these. */
  isWhole: boolean;
  onSave: (next: AskOrder | null) => Promise<void>;
  onClose: () => void;
}

/** Changes who is told of the questions of a repository or a run. */
export function AskOrderDialog(props: AskOrderDialogProps) {
  const { askOrder, members, isWhole, onSave, onClose } = props;
  const isMember = (place: string) =>
    place === REQUESTER || !isWhole || members.some(({ personId }) => personId === place);
  const [places, setPlaces] = useState<readonly string[]>(() => {
    const known = (askOrder?.personIds ?? []).map((id) => id ?? REQUESTER).filter(isMember);
    return known.length > 0 ? known : [REQUESTER];
  });
  const [minutes, setMinutes] = useState(String(askOrder?.minutes ?? MINUTES_FIRST));
  const save = useMutation({ mutationFn: onSave, onSuccess: onClose });
  const isWrong = !/^\d{1,3}$/.test(minutes.trim()) || !isWithin(Number(minutes));
  const free = [REQUESTER, ...members.map(({ personId }) => personId)].filter(
    (one) => !places.includes(one),
  );
  const submit = () => {
    const personIds = places.map((place) => (place === REQUESTER ? null : place));
    if (!isWrong) save.mutate({ personIds, minutes: Number(minutes) });
  };
  return (
    <FormModal
      title="Who is told of questions"
      description="The first person at once, the next ones while the question is open, and then the owners. A person without a channel for questions is left out."
      submit="Save the order"
      act={save}
      other={
        askOrder !== null && (
          <Button busy={save.isPending} onClick={() => save.mutate(null)}>
            Use the default
          </Button>
        )
      }
      onSubmit={submit}
      onClose={onClose}
    >
      {places.map((place, at) => (
        <Place
          key={place}
          at={at}
          place={place}
          options={optionsOf([place, ...free], members)}
          isOnly={places.length === 1}
          onChange={(next) => setPlaces(places.with(at, next))}
          onEarlier={() => setPlaces(moveEarlier(places, at))}
          onRemove={() => setPlaces(places.toSpliced(at, 1))}
        />
      ))}
      {places.length < PLACES_MAX && free[0] !== undefined && (
        <Button
          className="justify-self-start"
          onClick={() => setPlaces([...places, ...free.slice(0, 1)])}
        >
          Add a person
        </Button>
      )}
      <TextField
        label="Minutes until the next person"
        inputMode="numeric"
        value={minutes}
        error={isWrong ? `Enter whole minutes from 1 to ${MINUTES_MAX}.` : undefined}
        onChange={(event) => setMinutes(event.target.value)}
      />
    </FormModal>
  );
}

interface PlaceProps {
  at: number;
  place: string;
  options: readonly { value: string; word: string }[];
  isOnly: boolean;
  onChange: (place: string) => void;
  onEarlier: () => void;
  onRemove: () => void;
}

function Place({ at, place, options, isOnly, onChange, onEarlier, onRemove }: PlaceProps) {
  const name = options[0]?.word;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] items-end gap-2 sm:grid-cols-[minmax(0,1fr)_auto]">
      <SelectInput
        label={at === 0 ? 'First' : `Then (${at + 1})`}
        options={options}
        value={place}
        onChange={(event) => onChange(event.target.value)}
      />
      {!isOnly && (
        <span className="flex gap-2">
          {at > 0 && (
            <Button aria-label={`Move ${name} earlier`} onClick={onEarlier}>
              Earlier
            </Button>
          )}
          <Button aria-label={`Remove ${name}`} onClick={onRemove}>
            Remove
          </Button>
        </span>
      )}
    </div>
  );
}

function optionsOf(places: readonly string[], members: readonly Member[]) {
  return places.map((value) => {
    if (value === REQUESTER) return { value, word: 'The person who enqueued the job' };
    const member = members.find(({ personId }) => personId === value);
    return { value, word: member === undefined ? 'Another member' : plainText(member.name) };
  });
}

function moveEarlier(places: readonly string[], at: number): string[] {
  return places.toSpliced(at, 1).toSpliced(at - 1, 0, ...places.slice(at, at + 1));
}

function isWithin(minutes: number): boolean {
  return minutes >= 1 && minutes <= MINUTES_MAX;
}
