"""Counts from a config, against transformers and the FLOP counter of PyTorch, for every family."""

import json

import pytest

from attncalc import InputError, Problem, count

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
FlopCounterMode = pytest.importorskip("torch.utils.flop_counter").FlopCounterMode
pytestmark = pytest.mark.slow
TOKENS = 7

_ROTARY = {
    "vocab_size": 31, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "pad_token_id": 0,
}  # fmt: skip
_SIDES = {
    "vocab_size": 31, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 4, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 20, "max_position_embeddings": 12, "pad_token_id": 0,
}  # fmt: skip
_BERT = {
    "vocab_size": 31, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 12,
}  # fmt: skip
_T5 = {
    "vocab_size": 31, "d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2,
    "num_decoder_layers": 3, "num_heads": 4, "relative_attention_num_buckets": 8,
    "decoder_start_token_id": 0,
}  # fmt: skip
_GPT2 = {"vocab_size": 31, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 12}
_EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 7}
_FALCON = {
    "vocab_size": 31, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
    "ffn_hidden_size": 24,
}  # fmt: skip
_OPT = {
    "vocab_size": 31, "hidden_size": 16, "ffn_dim": 24, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 12, "word_embed_proj_dim": 16,
}  # fmt: skip
_OPT_350M = {**_OPT, "word_embed_proj_dim": 6, "do_layer_norm_before": False}
_VIT = {**_BERT, "image_size": 8, "patch_size": 4}
_ALBERT = {**_BERT, "embedding_size": 8}
_MARIAN = {**_SIDES, "eos_token_id": 1, "decoder_start_token_id": 0}
_WHISPER = {
    **_SIDES, "num_mel_bins": 5, "max_source_positions": 7, "max_target_positions": 7,
    "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1,
}  # fmt: skip
_LATENT = {
    **_ROTARY, "num_key_value_heads": 4, "num_hidden_layers": 3, "q_lora_rank": 6,
    "kv_lora_rank": 6, "qk_rope_head_dim": 2, "qk_nope_head_dim": 4, "v_head_dim": 3,
    "moe_intermediate_size": 7, "n_routed_experts": 8, "num_experts_per_tok": 2,
    "n_shared_experts": 2, "first_k_dense_replace": 1, "n_group": 2, "topk_group": 1,
}  # fmt: skip
_ROUTED = {
    **_ROTARY, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 7,
    "head_dim": 4, "eos_token_id": 1, "bos_token_id": 2,
}  # fmt: skip
_MIXED = {**_ROUTED, "shared_expert_intermediate_size": 9, "mlp_only_layers": [0]}
_LLAMA4 = {
    "head_dim": 4, "num_local_experts": 2, "num_experts_per_tok": 2, "intermediate_size_mlp": 20,
    "interleave_moe_layer_step": 2,
}  # fmt: skip
_DEBERTA = {
    "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "share_att_key": True,
    "position_biased_input": False, "type_vocab_size": 0, "position_buckets": 4,
    "max_relative_positions": 9,
}  # fmt: skip
_MODERN = {**_BERT, "local_attention": 4, "pad_token_id": 0}
_AUDIO = {
    **_BERT, "conv_dim": [6, 10], "conv_stride": [5, 2], "conv_kernel": [10, 3],
    "num_feat_extract_layers": 2, "num_conv_pos_embeddings": 6, "num_conv_pos_embedding_groups": 4,
}  # fmt: skip
_GEMMA_4 = {
    **_ROTARY, "head_dim": 4, "global_head_dim": 6, "num_hidden_layers": 4, "sliding_window": 9,
    "layer_types": ["sliding_attention", "full_attention"] * 2, "hidden_size_per_layer_input": 0,
}  # fmt: skip
_XLNET = {"vocab_size": 31, "d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 24}
_XLM = {"vocab_size": 31, "emb_dim": 16, "n_layers": 2, "n_heads": 4}
_INDEXER = {"index_n_heads": 2, "index_head_dim": 4, "index_topk": 8}
_COHERE = {
    **_ROTARY, "num_experts": 4, "num_experts_per_tok": 2, "head_dim": 4, "eos_token_id": 1,
    "bos_token_id": 2, "shared_expert_combination_strategy": "sum",
}  # fmt: skip

_WINDOWS = {"max_encoder_position_embeddings": 12, "max_decoder_position_embeddings": 10}
_TWO_TABLES = {"src_vocab_size": 31, "tgt_vocab_size": 29}

CASES = [
    ("CTRLLMHeadModel", {**_GPT2, "dff": 20}), ("BertGenerationEncoder", _BERT),
    ("IBertForMaskedLM", _BERT),
    ("GPTNeoXJapaneseForCausalLM", {
        "vocab_size": 31, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_multiple_size": 2,
    }),
    ("Mistral4ForCausalLM", {**_LATENT, "n_group": 1}), ("AXK1ForCausalLM", _LATENT),
    ("FSMTForConditionalGeneration", {**_SIDES, **_TWO_TABLES}),
    ("GPT2Model", _GPT2), ("GPT2LMHeadModel", _GPT2), ("GPT2LMHeadModel", {**_GPT2, "n_inner": 20}),
    ("LlamaModel", _ROTARY), ("LlamaForCausalLM", _ROTARY),
    ("LlamaForCausalLM", {**_ROTARY, "attention_bias": True, "mlp_bias": True, "head_dim": 6}),
    ("LlamaForSequenceClassification", _ROTARY), ("LlamaForTokenClassification", _ROTARY),
    ("MistralForCausalLM", _ROTARY), ("Qwen2ForCausalLM", _ROTARY),
    ("Qwen2ForCausalLM", {**_ROTARY, "tie_word_embeddings": True}),
    ("Qwen3ForCausalLM", _ROTARY), ("Qwen3ForCausalLM", {**_ROTARY, "attention_bias": True}),
    ("Gemma2ForCausalLM", _ROTARY), ("Gemma2Model", {**_ROTARY, "head_dim": 6}),
    ("BertModel", _BERT), ("BertForMaskedLM", _BERT), ("BertForPreTraining", _BERT),
    ("BertForSequenceClassification", _BERT), ("BertForTokenClassification", _BERT),
    ("BertForNextSentencePrediction", _BERT),
    ("CLIPTextModelWithProjection", {**_BERT, "projection_dim": 6}), ("CLIPTextModel", _BERT),
    ("CLIPVisionModelWithProjection", {**_VIT, "projection_dim": 6}), ("SiglipTextModel", _BERT),
    ("Dinov2Model", _VIT), ("Dinov2Model", {**_VIT, "use_swiglu_ffn": True, "mlp_ratio": 2}),
    ("Dinov2WithRegistersModel", _VIT), ("DeiTModel", _VIT), ("DeiTForImageClassification", _VIT),
    ("DeiTForImageClassificationWithTeacher", _VIT),
    ("Dinov2ForImageClassification", _VIT),
    ("AlbertModel", _ALBERT), ("AlbertForMaskedLM", _ALBERT),
    ("AlbertForSequenceClassification", _ALBERT), ("ElectraForMaskedLM", _ALBERT),
    ("MPNetModel", _BERT), ("MPNetForMaskedLM", _BERT), ("MarianMTModel", _MARIAN),
    ("RobertaModel", _BERT), ("RobertaForMaskedLM", _BERT),
    ("AlbertModel", {**_ALBERT, "num_hidden_groups": 2}),
    ("AlbertModel", {**_ALBERT, "num_hidden_groups": 2, "inner_group_num": 2}),
    ("MarianMTModel", {**_MARIAN, "share_encoder_decoder_embeddings": False}),
    ("StableLmForCausalLM", {**_ROTARY, "partial_rotary_factor": 0.5, "qk_layernorm": True}),
    ("OPTForCausalLM", _OPT), ("OPTForCausalLM", _OPT_350M), ("OPTModel", _OPT_350M),
    ("OPTForCausalLM", {**_OPT, "enable_bias": False}),
    ("ViTModel", _VIT), ("ViTForImageClassification", _VIT),
    ("BartModel", _SIDES), ("BartForConditionalGeneration", _SIDES),
    ("MBartForConditionalGeneration", {**_SIDES, "tie_word_embeddings": False}),
    ("WhisperModel", _WHISPER), ("WhisperForConditionalGeneration", _WHISPER),
    ("T5Model", _T5), ("T5ForConditionalGeneration", _T5),
    ("T5ForConditionalGeneration", {**_T5, "feed_forward_proj": "gated-gelu"}),
    ("T5EncoderModel", {**_T5, "is_gated_act": True}), ("ElectraForPreTraining", _ALBERT),
    ("DebertaV2Model", {**_BERT, **_DEBERTA, "embedding_size": 12}),
    ("JinaEmbeddingsV3Model", _BERT), ("RemBertForMaskedLM", {
        **_BERT, "input_embedding_size": 12, "output_embedding_size": 10,
        "tie_word_embeddings": True,
    }),
    ("MT5ForConditionalGeneration", _T5),
    ("GPT2ForSequenceClassification", _GPT2), ("GPT2ForTokenClassification", _GPT2),
    ("BartForSequenceClassification", _SIDES), ("T5ForSequenceClassification", _T5),
    ("T5ForTokenClassification", _T5),
    ("WhisperForAudioClassification", {**_WHISPER, "classifier_proj_size": 6}),
    ("MixtralForCausalLM", {**_ROTARY, "num_local_experts": 4}),
    ("Qwen2MoeForCausalLM", {
        **_ROTARY, **_EXPERTS, "num_experts": 4, "shared_expert_intermediate_size": 9,
    }),
    ("Qwen3MoeForCausalLM", {**_ROTARY, **_EXPERTS, "head_dim": 6, "mlp_only_layers": [1]}),
    ("Qwen3VLMoeTextModel", {**_ROTARY, **_EXPERTS, "head_dim": 6}),
    ("Ernie4_5_MoeForCausalLM", {
        **_ROTARY, "num_hidden_layers": 3, "moe_intermediate_size": 7, "moe_num_experts": 4,
        "moe_k": 2, "moe_num_shared_experts": 2, "moe_layer_end_index": 1,
    }),
    ("Jais2ForCausalLM", {**_ROTARY, "head_dim": 4}), ("PersimmonForCausalLM", _BERT),
    ("FlexOlmoForCausalLM", {**_ROTARY, "num_experts": 4, "num_experts_per_tok": 2}),
    ("SolarOpenForCausalLM", {
        **_ROTARY, "head_dim": 6, "moe_intermediate_size": 7, "n_routed_experts": 4,
        "num_experts_per_tok": 2,
    }),
    ("YoutuForCausalLM", dict([*_LATENT.items()][:12])), ("Glm4MoeLiteForCausalLM", _LATENT),
    ("ExaoneMoeForCausalLM", {
        **_ROTARY, "moe_intermediate_size": 7, "num_experts": 4, "num_experts_per_tok": 2,
        "num_shared_experts": 2,
    }),
    ("MellumForCausalLM", {
        **_ROTARY, "head_dim": 6, "moe_intermediate_size": 7, "num_experts": 4,
        "num_experts_per_tok": 2, "mlp_layer_types": ["dense", "sparse"],
    }),
    ("HunYuanDenseV1ForCausalLM", {**_ROTARY, "head_dim": 6}),
    ("HunYuanMoEV1ForCausalLM", {**_ROTARY, "head_dim": 6, "num_experts": 4, "moe_topk": 2}),
    ("HyperCLOVAXForCausalLM", {**_ROTARY, "head_dim": 4}), ("OpenAIGPTLMHeadModel", _GPT2),
    ("BioGptForCausalLM", _BERT), ("Data2VecTextForMaskedLM", _BERT), ("ErnieModel", _BERT),
    ("MegatronBertForMaskedLM", _BERT), ("XLMRobertaXLForMaskedLM", _BERT),
    ("RobertaPreLayerNormModel", _BERT), ("BlenderbotForConditionalGeneration", _SIDES),
    ("MvpForConditionalGeneration", _SIDES), ("PLBartForConditionalGeneration", _SIDES),
    ("ModernBertDecoderForCausalLM", {**_BERT, "local_attention": 64, "pad_token_id": 0}),
    ("BertForMaskedLM", {**_BERT, "tie_word_embeddings": False}),
    ("BertForPreTraining", {**_BERT, "tie_word_embeddings": False}),
    ("RobertaForMaskedLM", {**_BERT, "tie_word_embeddings": False}),
    ("AlbertForMaskedLM", {**_ALBERT, "tie_word_embeddings": False}),
    ("ElectraForMaskedLM", {**_ALBERT, "tie_word_embeddings": False}),
    ("MPNetForMaskedLM", {**_BERT, "tie_word_embeddings": False}),
    ("DebertaForMaskedLM", {**_BERT, **_DEBERTA, "tie_word_embeddings": False}),
    ("DebertaForMaskedLM", {**_BERT, **_DEBERTA, "legacy": False}),
    ("ModernBertForMaskedLM", {**_MODERN, "tie_word_embeddings": False}),
    ("DistilBertForMaskedLM", {
        "vocab_size": 31, "dim": 16, "hidden_dim": 24, "n_layers": 2, "n_heads": 4,
        "max_position_embeddings": 12, "tie_word_embeddings": False,
    }),
    ("OlmoeForCausalLM", {**_ROTARY, "num_experts": 4, "num_experts_per_tok": 2}),
    ("GptOssForCausalLM", {**_ROTARY, "num_local_experts": 4, "head_dim": 6,
                           "num_experts_per_tok": 2}),
    ("GraniteMoeForCausalLM", {**_ROTARY, "num_local_experts": 4, "num_experts_per_tok": 2}),
    ("GraniteMoeSharedForCausalLM", {
        **_ROTARY, "num_local_experts": 4, "num_experts_per_tok": 2,
        "shared_intermediate_size": 9,
    }),
    ("OlmoForCausalLM", _ROTARY), ("Olmo2ForCausalLM", _ROTARY), ("Olmo3ForCausalLM", _ROTARY),
    ("Exaone4ForCausalLM", _ROTARY), ("NemotronForCausalLM", {**_ROTARY, "head_dim": 4}),
    ("BloomForCausalLM", {"vocab_size": 31, "hidden_size": 16, "n_layer": 2, "n_head": 4}),
    ("MptForCausalLM", {"vocab_size": 31, "d_model": 16, "n_layers": 2, "n_heads": 4,
        "use_cache": True,
    }),
    ("GraniteForCausalLM", _ROTARY),
    ("GPTNeoXForCausalLM", _BERT), ("GPTNeoXModel", {**_BERT, "attention_bias": False}),
    ("GPTNeoXForTokenClassification", _BERT), ("GPTJForCausalLM", {**_GPT2, "rotary_dim": 2}),
    ("CodeGenForCausalLM", {**_GPT2, "rotary_dim": 2}), ("FalconForCausalLM", _FALCON),
    ("FalconForCausalLM", {**_FALCON, "new_decoder_architecture": True, "num_kv_heads": 2}),
    ("FalconModel", {**_FALCON, "multi_query": False, "bias": True, "parallel_attn": False}),
    ("PhiForCausalLM", _ROTARY), ("PhiModel", {**_BERT, "qk_layernorm": True}),
    ("StableLmForCausalLM", {
        **_ROTARY, "use_parallel_residual": True, "partial_rotary_factor": 0.5,
    }),
    ("CohereForCausalLM", {**_ROTARY, "use_qk_norm": True}), ("CohereForCausalLM", _ROTARY),
    ("Cohere2ForCausalLM", {**_ROTARY, "layer_types": ["sliding_attention", "full_attention"]}),
    ("DeepseekV3Model", _LATENT), ("DeepseekV3ForCausalLM", _LATENT),
    ("DeepseekV3ForCausalLM", {**_LATENT, "q_lora_rank": None, "attention_bias": True}),
    ("DeepseekV3ForCausalLM", {**_LATENT, "tie_word_embeddings": True}),
    ("DeepseekV3ForSequenceClassification", _LATENT),
    ("Llama4ForCausalLM", {**_ROTARY, **_LLAMA4}), ("Llama4TextModel", {
        **_ROTARY, **_LLAMA4, "moe_layers": [0], "attention_bias": True, "use_qk_norm": False,
    }),
    ("DebertaV2ForMaskedLM", {**_BERT, **_DEBERTA, "norm_rel_ebd": "layer_norm"}),
    ("DebertaV2ForSequenceClassification", {**_BERT, **_DEBERTA, "share_att_key": False}),
    ("DebertaV2Model", {**_BERT, "type_vocab_size": 2}),
    ("DebertaModel", {**_BERT, **_DEBERTA, "max_relative_positions": -1}),
    ("DebertaForMaskedLM", {**_BERT, **_DEBERTA, "pos_att_type": ["p2c"]}),
    ("DebertaForTokenClassification", {**_BERT, **_DEBERTA, "pos_att_type": ["c2p"]}),
    ("Wav2Vec2Model", _AUDIO), ("Wav2Vec2ForCTC", {
        **_AUDIO, "do_stable_layer_norm": True, "feat_extract_norm": "layer", "conv_bias": True,
        "num_conv_pos_embeddings": 5, "mask_time_prob": 0.0,
    }),
    ("Wav2Vec2ForSequenceClassification", {**_AUDIO, "classifier_proj_size": 6}),
    ("ModernBertModel", _MODERN), ("ModernBertForMaskedLM", {
        **_MODERN, "attention_bias": True, "mlp_bias": True, "norm_bias": True,
        "classifier_bias": True, "decoder_bias": False,
    }),
    ("ModernBertForSequenceClassification", _MODERN),
    ("SiglipVisionModel", _VIT), ("SiglipVisionModel", {**_VIT, "vision_use_head": False}),
    ("DeepseekV2ForCausalLM", _LATENT), ("DeepseekV2Model", {**_LATENT, "mlp_bias": True}),
    ("ApertusForCausalLM", _ROTARY), ("BitNetForCausalLM", _ROTARY),
    ("NanoChatForCausalLM", _ROTARY),
    ("FlintForCausalLM", _MIXED),
    ("HYV3ForCausalLM", _ROUTED), ("AfmoeForCausalLM", _ROUTED),
    ("PhimoeForCausalLM", {**_ROTARY, "num_local_experts": 4}),
    ("AriaTextForCausalLM", {**_ROTARY, "moe_num_experts": 4, "moe_topk": 2, "head_dim": 4}),
    ("GraniteSWAForCausalLM", _ROTARY),
    ("GraniteMoeSWAForCausalLM", {
        **_ROTARY, "num_local_experts": 4, "num_experts_per_tok": 2, "shared_intermediate_size": 9,
    }),
    ("MiniCPM3ForCausalLM", _LATENT), ("EuroBertForMaskedLM", _ROTARY),
    ("EuroBertForSequenceClassification", {**_ROTARY, "classifier_pooling": "mean"}),
    ("XGLMForCausalLM", {
        "vocab_size": 31, "d_model": 16, "ffn_dim": 24, "num_layers": 2, "attention_heads": 4,
    }),
    ("NomicBertForMaskedLM", _BERT), ("GteForMaskedLM", _BERT), ("GteModel", _BERT),
    ("JinaEmbeddingsV3ForMaskedLM", _BERT), ("M2M100ForConditionalGeneration", _SIDES),
    ("UMT5ForConditionalGeneration", _T5), ("IJepaForImageClassification", _VIT),
    ("ViTMSNModel", _VIT), ("HubertForCTC", _AUDIO), ("UniSpeechForCTC", _AUDIO),
    ("ASTForAudioClassification", {
        **_BERT, "num_mel_bins": 8, "max_length": 14, "patch_size": 4, "frequency_stride": 2,
        "time_stride": 3,
    }),
    ("DbrxForCausalLM", {
        "vocab_size": 31, "d_model": 16, "n_heads": 4, "n_layers": 2,
        "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8.0}, "ffn_config": {
            "hidden_size": 16, "ffn_hidden_size": 7, "moe_num_experts": 4, "moe_top_k": 2,
        },
    }),
    ("XLMWithLMHeadModel", _XLM), ("XLMForSequenceClassification", _XLM),
    ("FlaubertWithLMHeadModel", {**_XLM, "tie_word_embeddings": False}),
    ("XLNetModel", _XLNET), ("XLNetLMHeadModel", _XLNET),
    ("XLNetForSequenceClassification", _XLNET),
    ("EsmModel", {**_BERT, "position_embedding_type": "rotary", "pad_token_id": 0}),
    ("EsmForMaskedLM", {**_BERT, "pad_token_id": 0, "emb_layer_norm_before": True}),
    ("RemBertForMaskedLM", {**_BERT, "input_embedding_size": 12, "output_embedding_size": 10}),
    ("RemBertModel", {**_BERT, "input_embedding_size": 12}), ("DINOv3ViTModel", _VIT),
    ("DINOv3ViTModel", {**_VIT, "num_register_tokens": 2, "use_gated_mlp": True}),
    ("BeitModel", _VIT), ("Data2VecVisionModel", _VIT),
    ("BeitForImageClassification", {**_VIT, "use_relative_position_bias": True}),
    ("BeitForImageClassification", {
        **_VIT, "use_absolute_position_embeddings": True, "use_mean_pooling": False,
        "use_shared_relative_position_bias": True,
    }),
    ("Data2VecVisionForImageClassification", _VIT), ("MLCDVisionModel", _VIT),
    ("WavLMForCTC", _AUDIO), ("Gemma4ForCausalLM", _GEMMA_4),
    ("Gemma4ForCausalLM", {
        **_GEMMA_4, "attention_k_eq_v": True, "num_global_key_value_heads": 1,
    }),
    ("Gemma4ForCausalLM", {
        **_GEMMA_4, "num_kv_shared_layers": 2, "use_double_wide_mlp": True,
        "hidden_size_per_layer_input": 5, "vocab_size_per_layer_input": 31,
    }),
    ("Gemma4ForCausalLM", {
        **_GEMMA_4, "enable_moe_block": True, "num_experts": 4, "top_k_experts": 2,
        "moe_intermediate_size": 7,
    }),
    ("DeepseekV32ForCausalLM", {**_LATENT, **_INDEXER}), ("GlmMoeDsaForCausalLM", {
        **_LATENT, **_INDEXER,
    }),
    ("Cohere2MoeForCausalLM", _COHERE), ("Cohere2MoeForCausalLM", {
        **_COHERE, "num_shared_experts": 1, "mlp_layer_types": ["dense", "sparse"],
        "prefix_dense_intermediate_size": 20,
    }),
    ("LagunaForCausalLM", {
        **_ROUTED, "shared_expert_intermediate_size": 6, "num_attention_heads_per_layer": [2, 4],
    }),
    ("LagunaForCausalLM", {**_ROUTED, "gating": "per-element"}),
    ("BigBirdForMaskedLM", {**_BERT, "attention_type": "original_full"}),
    ("BigBirdModel", {**_BERT, "attention_type": "original_full"}),
    ("RoFormerForMaskedLM", {**_BERT, "embedding_size": 12}), ("OwlViTTextModel", _BERT),
    ("OwlViTVisionModel", _VIT), ("BlipVisionModel", _VIT), ("SplinterModel", _BERT),
    ("ClapTextModel", _BERT), ("DogeForCausalLM", _ROTARY), ("DogeForCausalLM", {
        **_ROTARY, "num_key_value_heads": 1, "attention_bias": True, "head_dim": 6,
    }),
    ("BlenderbotSmallModel", _SIDES), ("BlenderbotSmallForConditionalGeneration", _SIDES),
    ("BigBirdForSequenceClassification", {
        **_BERT, "attention_type": "original_full", "use_bias": False,
    }),
    ("CwmForCausalLM", {**_ROTARY, "head_dim": 4}), ("EuroBertModel", _ROTARY),
    ("HunYuanDenseV1ForCausalLM", {**_ROTARY, "head_dim": 6, "num_key_value_heads": 1}),
    ("OpenAIPrivacyFilterForTokenClassification", {
        **_ROTARY, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 2,
        "head_dim": 4,
    }),
    ("LayoutLMForMaskedLM", _BERT), ("FlavaTextModel", _BERT), ("EsmcForMaskedLM", _BERT),
    ("EsmcForSequenceClassification", _BERT), ("Blip2VisionModel", _VIT),
]  # fmt: skip


# whose passes are in blocks, or with a cache of fewer tokens, or which PyTorch does not count
_OTHER_PASSES = [
    ("BertGenerationDecoder", {**_BERT, "is_decoder": True}),
    ("MiMoV2FlashForCausalLM", {
        **_ROTARY, "head_dim": 6, "v_head_dim": 4, "moe_intermediate_size": 7, "sliding_window": 3,
        "n_routed_experts": 4, "num_experts_per_tok": 2, "attention_bias": True,
        "layer_types": ["sliding_attention", "full_attention"],
    }),
    ("LEDForConditionalGeneration", {**_SIDES, **_WINDOWS, "attention_window": 4}),
    ("LongT5ForConditionalGeneration", _T5),
    ("SwitchTransformersForConditionalGeneration", {
        **_T5, "num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1,
    }),
    ("Aimv2VisionModel", {**_VIT, "qkv_bias": True}),
]  # fmt: skip
_OTHER_HEADS = {
    "EsmForMaskedLM": {"pad_token_id": 0, "tie_word_embeddings": False},
    "BigBirdForQuestionAnswering": {"attention_type": "original_full"},
    "BigBirdForPreTraining": {"attention_type": "original_full"},
    "SplinterForQuestionAnswering": {},
    "XLMForQuestionAnswering": {},
    "XLMForMultipleChoice": {"num_labels": 3},
    "RoFormerForMultipleChoice": {},
    "BertLMHeadModel": {"tie_word_embeddings": False},
}
_KEYS_OF_BIASES = ("attention_bias", "mlp_bias", "use_bias", "mamba_proj_bias", "qkv_bias")


# transformers computes the scores of DiffLlama twice
@pytest.mark.parametrize("more", [{}, dict.fromkeys(_KEYS_OF_BIASES, True)])
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        *CASES,
        *_OTHER_PASSES,
        ("DiffLlamaForCausalLM", _ROTARY),
        ("LongformerForMaskedLM", {**_BERT, "attention_window": [4, 4], "pad_token_id": 1}),
        *((name, {**_BERT, **more}) for name, more in _OTHER_HEADS.items()),
        ("XLNetModel", {**_XLNET, "d_model": 4096}),
        ("XLNetForQuestionAnswering", _XLNET),
        ("NemotronHForCausalLM", {"tie_word_embeddings": True}),
    ],
)
def test_parameters_equal_numel(name, sizes, more, tmp_path):
    """Also where a config has keys of biases: most classes ignore some of them."""
    made = getattr(transformers, name)
    config = made.config_class(**sizes | more)
    config.architectures = [name]
    with torch.device("meta"):
        model = made(config)
    model.tie_weights()
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict(), default=str))
    expected = sum(each.numel() for each in model.parameters())
    assert count(tmp_path)["parameters"]["total"] == expected


@pytest.mark.parametrize("name", ["T5EncoderModel", "MT5EncoderModel", "T5ForTokenClassification"])
def test_an_encoder_of_t5_that_is_a_decoder_is_refused(name, tmp_path):
    config = getattr(transformers, name).config_class(**_T5, is_decoder=True)
    config.architectures = [name]
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    with pytest.raises(InputError, match='"is_decoder" is "True"'):
        count(tmp_path)


def inputs_of(name, config):
    """Return what a model reads: seven tokens, or an image of four patches."""
    ids = torch.ones(1, TOKENS, dtype=torch.long)
    if config.model_type == "audio-spectrogram-transformer":
        return {"input_values": torch.zeros(1, config.max_length, config.num_mel_bins)}
    if hasattr(config, "patch_size"):
        return {"pixel_values": torch.zeros(1, 3, 8, 8)}
    if config.model_type in ("wav2vec2", "hubert", "unispeech", "wavlm"):
        return {"input_values": torch.zeros(1, 5 * (2 * TOKENS) + 10)}
    if config.model_type == "whisper":
        inputs = {"input_features": torch.zeros(1, 5, 2 * TOKENS)}
        return inputs if "Audio" in name else {**inputs, "decoder_input_ids": ids}
    if "Sequence" in name:
        ids[0, -1] = min(config.eos_token_id or 0, config.vocab_size - 1)
        return {"input_ids": ids}
    has_decoder = config.is_encoder_decoder and "Token" not in name and "Encoder" not in name
    return {"input_ids": ids, **({"decoder_input_ids": ids} if has_decoder else {})}


@pytest.mark.parametrize(("name", "sizes"), CASES)
def test_flops_and_cache_are_those_of_a_pass(name, sizes, tmp_path):
    made = getattr(transformers, name)
    config = made.config_class(**sizes)
    config.architectures = [name]
    config._attn_implementation = config._experts_implementation = "eager"
    model = made(config).eval()
    torch.backends.mha.set_fastpath_enabled(False)  # it hides its products from the counter
    # the counter fails without gradients where modules get tensors that have none
    with (
        torch.set_grad_enabled(name.startswith(("Deberta", "Dbrx"))),
        FlopCounterMode(display=False) as counter,
    ):
        out = model(**inputs_of(name, config))
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict(), default=str))
    found = count(tmp_path, tokens=None if hasattr(config, "patch_size") else TOKENS)
    assert found["multiply_adds"]["flops"] == counter.get_total_flops()
    cache = getattr(out, "past_key_values", None)
    is_without = "Classification" in name or "OpenAI" in name
    assert cache is not None or is_without or found["kv_cache"]["bytes"] == 0
    repeats = getattr(config, "new_decoder_architecture", False)  # it keeps keys for all queries
    if cache is not None and not repeats and "Deepseek" not in name:  # these keep no latents
        sides = [getattr(cache, f"{side}_attention_cache", None) for side in ("self", "cross")]
        layers = [layer for side in filter(None, sides) for layer in side.layers] or cache.layers
        kept = [layer for layer in layers if layer.keys is not None]  # of others' keys none
        numbers = sum(layer.keys.numel() + layer.values.numel() for layer in kept)
        assert found["kv_cache"]["bytes"] == 4 * numbers


@pytest.mark.parametrize("norm_first", [False, True])
def test_parameters_of_a_layer_of_pytorch(norm_first):
    layer = torch.nn.TransformerEncoderLayer(6, 2, 10, norm_first=norm_first)
    weights = {name: each.detach().numpy() for name, each in layer.state_dict().items()}
    fields = {f"{kind}_{i}": weights[f"{each}{i}.{part}"]
              for each, pairs in (("linear", "Wb"), ("norm", ("gamma", "beta")))
              for kind, part in zip(pairs, ("weight", "bias"), strict=True)
              for i in (1, 2)}  # fmt: skip
    W, b = weights["self_attn.in_proj_weight"], weights["self_attn.in_proj_bias"]
    for i, each in enumerate("QKV"):
        fields |= {f"W_{each}": W[6 * i : 6 * i + 6], f"b_{each}": b[6 * i : 6 * i + 6]}
    fields |= {
        "W_O": weights["self_attn.out_proj.weight"],
        "b_O": weights["self_attn.out_proj.bias"],
    }
    problem = Problem(
        X=torch.ones(4, 6).numpy(), block="encoder", heads=2, weights_layout="torch", **fields
    )
    total = sum(each.numel() for each in layer.parameters())
    assert count(problem)["parameters"]["total"] == total
