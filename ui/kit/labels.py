"""What the page calls the settings and the strategies: one label for each, wherever it is shown."""

from __future__ import annotations

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    "strategy": "Strategy",
    "temperature": "Temperature",
    "top_k": "Top-k",
    "top_p": "Top-p",
    "num_beams": "Beams",
    "length_penalty": "Length penalty",
    "penalty_alpha": "Penalty α",
    "dola_layers": "DoLa layers",
    "early_stopping": "Early stopping",
    "num_beam_groups": "Beam groups",
    "diversity_penalty": "Diversity penalty",
    "num_return_sequences": "Number of outputs",
    "seed": "Seed",
    "max_new_tokens": "Maximum length",
    "top_candidates": "Candidates shown",
    "min_p": "Min-p",
    "typical_p": "Typical-p",
    "top_h": "Top-H",
    "top_n_sigma": "Top-nσ",
    "top_a": "Top-a",
    "epsilon_cutoff": "Epsilon cutoff",
    "eta_cutoff": "Eta cutoff",
    "xtc_probability": "XTC probability",
    "xtc_threshold": "XTC threshold",
    "dynatemp_range": "Dynatemp range",
    "dynatemp_exponent": "Dynatemp exponent",
    "mirostat_mode": "Mirostat",
    "mirostat_tau": "Mirostat τ",
    "mirostat_eta": "Mirostat η",
    "repetition_penalty": "Repetition penalty",
    "frequency_penalty": "Frequency penalty",
    "presence_penalty": "Presence penalty",
    "no_repeat_ngram_size": "No-repeat n-gram",
    "dry_multiplier": "DRY multiplier",
    "dry_base": "DRY base",
    "dry_allowed_length": "DRY allowed length",
    "min_new_tokens": "Minimum length",
    "banned_words": "Banned words",
    "stop_texts": "Stop texts",
    "logit_bias": "Logit bias",
    "order": "Filter order",
}

WORDS: Mapping[str, str] = {  # for choices
    "greedy": "Greedy",
    "sample": "Sampling",
    "beam": "Beam search",
    "beam_sample": "Beam sampling",
    "diverse_beam": "Diverse beams",
    "contrastive": "Contrastive",
    "dola": "DoLa",
}
