"""Teacher forcing and one training step of the small transformer, against torch's own Adam and plain differences."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from lesson.block import PADDING, BlockSettings, make_model
from lesson.forward_trace import trace_forward
from lesson.training import MATRICES, StepSettings, train
from model.transformer.encoder_decoder import EncoderDecoder

OTHER = BlockSettings(source=(2, 8), answer=(6, 7, 4, 1), heads=3)


def loss_of(model: EncoderDecoder, block: BlockSettings) -> torch.Tensor:
    logits = model(torch.tensor([block.source]), torch.tensor([block.decoder_input]))[0]
    return functional.cross_entropy(logits, torch.tensor(block.answer))


def by_torch(settings: StepSettings) -> tuple[EncoderDecoder, list[float]]:
    """The model after all steps of `torch.optim.Adam`, and the loss before each and at the end."""
    model = make_model(settings.block)
    adam, losses = torch.optim.Adam(model.parameters(), lr=settings.learning_rate), []
    for _ in range(settings.step):
        adam.zero_grad()
        loss = loss_of(model, settings.block)
        loss.backward()
        adam.step()
        losses.append(loss.item())
    return model, [*losses, loss_of(model, settings.block).item()]


@pytest.mark.parametrize(("step", "block"), [(1, BlockSettings()), (5, OTHER)])
def test_the_steps_are_those_of_torch_s_adam(step: int, block: BlockSettings) -> None:
    model, losses = by_torch(StepSettings(block, 0.02, step))
    named = dict(model.named_parameters())
    for matrix, name in MATRICES.items():
        update = train(StepSettings(block, 0.02, step, matrix)).update
        expected = named[name] if matrix == "embedding" else named[name].T
        torch.testing.assert_close(update.after, expected.detach(), rtol=1e-4, atol=1e-5)
    assert train(StepSettings(block, 0.02, step)).losses == pytest.approx(losses, abs=1e-4)


def test_an_update_is_what_the_algorithm_says() -> None:
    """Kingma and Ba, 2015, algorithm 1, one number at a time; the moments go on from those of the step before."""
    first, second = (train(StepSettings(step=step)).update for step in (1, 2))
    assert torch.equal(second.before, first.after)
    assert torch.equal(second.first_before, first.first)
    assert torch.equal(second.second_before, first.second)
    for i in range(6):
        for j in range(6):
            gradient = second.gradient[i, j].item()
            mean = 0.9 * first.first[i, j].item() + 0.1 * gradient
            square = 0.999 * first.second[i, j].item() + 0.001 * gradient**2
            change = -0.01 * (mean / (1 - 0.9**2)) / (math.sqrt(square / (1 - 0.999**2)) + 1e-8)
            assert second.first[i, j].item() == pytest.approx(mean, abs=1e-7)
            assert second.second[i, j].item() == pytest.approx(square, abs=1e-9)
            assert second.change[i, j].item() == pytest.approx(change, rel=1e-3, abs=1e-6)
            assert second.after[i, j].item() == pytest.approx(second.before[i, j].item() + change, abs=1e-5)


def test_a_gradient_is_the_slope_of_the_loss() -> None:
    """Central differences in double precision: (L(w + h) - L(w - h)) / 2h."""
    update = train(StepSettings(matrix="encoder W1")).update
    for row, column in ((0, 0), (2, 5), (5, 3)):
        losses = []
        for h in (1e-4, -1e-4):
            model = make_model(BlockSettings()).double()
            with torch.no_grad():
                dict(model.named_parameters())[MATRICES["encoder W1"]][column, row] += h  # (out, in)
                losses.append(loss_of(model, BlockSettings()).item())
        assert update.gradient[row, column].item() == pytest.approx((losses[0] - losses[1]) / 2e-4, abs=1e-5)


def test_teacher_forcing_reads_the_true_words_and_gives_the_same_loss() -> None:
    positions, traced = train(StepSettings()).positions, trace_forward(BlockSettings())
    assert [(position.read, position.target) for position in positions] == [((0,), 6), ((0, 6), 3), ((0, 6, 3), 4)]
    for index, position in enumerate(positions):
        torch.testing.assert_close(position.probabilities, traced["output.probabilities"].values[index])
        assert position.loss == pytest.approx(-math.log(position.probabilities[position.target].item()), abs=1e-6)
        alone = make_model(BlockSettings()).inspect(position.read, source=(5, 8, 9)).logits[-1, :PADDING]
        torch.testing.assert_close(position.probabilities, alone.softmax(-1))  # it saw nothing of what comes after it
    assert sum(position.loss for position in positions) / 3 == pytest.approx(traced.loss, abs=1e-6)


def test_norms_are_those_of_all_gradients() -> None:
    model = make_model(BlockSettings())
    loss_of(model, BlockSettings()).backward()
    gradients = {name: parameter.grad for name, parameter in model.named_parameters()}
    step = train(StepSettings())
    for matrix, name in MATRICES.items():
        gradient = gradients[name]
        assert gradient is not None and step.norms[matrix] == pytest.approx(gradient.norm().item(), rel=1e-4)
    every = torch.cat([gradient.flatten() for gradient in gradients.values() if gradient is not None])
    assert step.norm == pytest.approx(every.norm().item(), rel=1e-4)
    assert {name for name, parameter in model.named_parameters() if parameter.dim() == 2} == set(MATRICES.values())


def test_the_loss_goes_down_and_padding_stays_zero() -> None:
    step = train(StepSettings(step=30, matrix="embedding"))
    assert len(step.losses) == 31 and step.losses[-1] < 0.5 < step.losses[0]  # 2.86 before the first
    assert step.update.after[PADDING].tolist() == [0.0] * 6
